package httpapi

import (
	"context"
	"errors"
	"net/netip"
	"time"

	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/answer/decisions"
	"gslb.internal/overwatch/internal/answer/geo"
	"gslb.internal/overwatch/internal/answer/zone"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/health/trust"
	"gslb.internal/overwatch/internal/operate/history"
	"gslb.internal/overwatch/internal/state/audit"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
	"gslb.internal/shared/buildinfo"
	"gslb.internal/shared/settings"
)

// Options is what the API stands on. Every field is required unless it says
// otherwise.
type Options struct {
	API       config.API // where to listen and whom to admit
	NodeID    string     // the node's own name, accepted as Host
	Build     buildinfo.Info
	StartedAt time.Time // when the process started, with a monotonic reading

	// SigningKeys are the keys of the zones; nil when answers are not signed.
	SigningKeys SigningKeys
	// KeySync exchanges them with other nodes; nil when answers are not signed.
	KeySync KeySync

	// Config returns the configuration in force and when it came into force.
	Config func() (*config.Config, time.Time)
	// Fitness tells what the node thinks of itself.
	Fitness Fitness
	// View is what is known about backends.
	View *registry.View
	// Orders passes on what an operator decides about backends and agents.
	Orders Orders
	// Definitions are what the API has defined beside servers.
	Definitions Definitions
	// RestartRequired names the keys whose value in force is not the one that
	// the next start will have.
	RestartRequired func() []string
	// Reloader reads the configuration again.
	Reloader Reloader
	// ConfigPath is the configuration file.
	ConfigPath string
	// ValidateConfig finds what is wrong with the text of a configuration. It
	// reads no files and no environment.
	ValidateConfig func(text string) settings.Problems
	// Inventory is the servers that the API has created.
	Inventory Inventory
	// OverrideStore makes an override survive a restart.
	OverrideStore OverrideStore
	// DiskTakes is how long what is being written to disk has taken, 0 when nothing is; nil where changes wait for no
	// disk.
	DiskTakes func() time.Duration
	// Publisher tells when a change has reached DNS.
	Publisher Publisher
	// Pins are the agents that are believed.
	Pins Pins
	// Validator makes the node's own checks; nil when validation is off.
	Validator Validator
	// Places is the table of where clients are that DNS answers from.
	Places func() *geo.Table
	// DNSView is what DNS answers from now.
	DNSView func() *zone.View
	// Decisions is what became of steered queries.
	Decisions *decisions.Recorder
	// Audit keeps who changed what.
	Audit *audit.Log
	// Self tells where the node answers DNS, and how often it has.
	Self func() Self
	// History keeps what the node does.
	History *history.Recorder
	// Members lists the overwatch nodes that gossip knows, this one included.
	Members func() []Member

	Logger zerolog.Logger
	Now    func() time.Time // nil is time.Now
}

// Fitness is the node's judgement of itself.
type Fitness interface {
	Readiness() api.Readiness
	Status() api.ServiceStatus
	// Judgement is Status and, where that is not healthy, why.
	Judgement() (status api.ServiceStatus, message string)
}

// Orders is what an operator may tell the registry. A call returns when
// readers of the view see its effect.
type Orders interface {
	SetOverride(context.Context, registry.Override) error
	ClearOverride(ctx context.Context, service string, address netip.Addr, port uint16) error
	// DropAgent forgets everything that an agent claimed.
	DropAgent(ctx context.Context, agentID string) error
	// SetDrain begins a drain, which takes the domain's own time when over is 0.
	SetDrain(ctx context.Context, id registry.ID, over time.Duration) (endsAt time.Time, err error)
	ClearDrain(context.Context, registry.ID) error
}

// Definitions is what the API has defined beside servers.
type Definitions interface {
	// Defined returns what is defined, without what the file hides, and the
	// configuration file with the API's settings over it. Neither is ever
	// changed, and neither call waits for anything.
	Defined() (*definitions.Set, *config.Config)
	// Define makes a change: it is on disk with its audit entry and in the
	// answers when Define returns. make reads the draft and changes it last of
	// all, so that an error, which is returned, leaves the draft as it was. It
	// may be called more than once, by another goroutine, and must not wait.
	// What cannot be served is settings.Problems.
	Define(note store.Entry, make func(*definitions.Draft) error) error
}

// Reloader reads the configuration again and returns the keys that changed
// and those that only a restart changes. What is wrong with the file is
// settings.Problems, and changes nothing.
type Reloader interface {
	Reload(context.Context) (changes, restart []string, err error)
}

// Inventory keeps the servers that the API creates. A change is on disk with
// its audit entry and in the view when a call returns.
type Inventory interface {
	Get(registry.ID) (store.Server, bool)
	Create(context.Context, store.Server, store.Entry) error
	// Change stops at an error of edit.
	Change(ctx context.Context, id registry.ID, note store.Entry, edit func(*store.Server) error) (after store.Server,
		err error)
	// Remove asks may first.
	Remove(ctx context.Context, id registry.ID, note store.Entry, may func(store.Server) error) error
}

// OverrideStore keeps overrides. A call returns when the change is on disk;
// an error means that nothing was changed.
type OverrideStore interface {
	PutOverride(store.Override, ...store.Entry) error
	DeleteOverride(service, address string, with ...store.Entry) error
}

// Publisher turns what the registry knows into DNS answers.
type Publisher interface {
	// Flush returns when everything that changed before the call is in the
	// answers.
	Flush(context.Context) error
}

// Pins is the administration of trust.
type Pins interface {
	Agents() []trust.Record
	Get(agentID string) (trust.Record, bool)
	// Unpin changes nothing when it fails.
	Unpin(ctx context.Context, agentID string, with ...store.Entry) error
	// Reissue wants another certificate than the pinned one; it changes nothing when it fails.
	Reissue(ctx context.Context, agentID string, with ...store.Entry) error
	// Revoke is in effect even when it could not be stored.
	Revoke(ctx context.Context, agentID, reason string, with ...store.Entry) error
	// RevokeAndLock is Revoke, and locks the tokens of the agent's services.
	RevokeAndLock(ctx context.Context, agentID, reason string, with ...store.Entry) (locked []string, err error)
	// Services are those of which an agent knew the tokens.
	Services(agentID string) []string
	Locks() []trust.Lock
	Unlock(ctx context.Context, service string, with ...store.Entry) error
	// Select tells which agents are meant, UnpinSelected deletes the pins of those of them that still are.
	Select(trust.Selection) []string
	UnpinSelected(ctx context.Context, s trust.Selection, ids []string, with ...store.Entry) ([]string, error)
}

// Validator makes the node's own checks.
type Validator interface {
	// CheckNow checks every backend that wants asks for and returns the
	// verdicts ordered by id when all have ended.
	CheckNow(ctx context.Context, wants func(registry.ID) bool) ([]registry.Verdict, error)
}

// Self is what the node says of itself as a server of DNS.
type Self struct {
	Addresses []netip.AddrPort // that it listens on
	Queries   uint64           // that it has received
}

// Member is one overwatch node as gossip sees it.
type Member struct {
	ID       string
	Address  netip.AddrPort // of its gossip
	Region   string
	Version  string
	Status   api.GossipStatus
	State    api.GossipState
	RTT      time.Duration // 0 when not measured
	LastSeen time.Time
	JoinedAt time.Time
}

func (o *Options) complete() error {
	if o.Now == nil {
		o.Now = time.Now
	}
	for name, missing := range map[string]bool{
		"Config": o.Config == nil, "Fitness": o.Fitness == nil, "View": o.View == nil, "Orders": o.Orders == nil,
		"Definitions": o.Definitions == nil, "RestartRequired": o.RestartRequired == nil,
		"ValidateConfig": o.ValidateConfig == nil, "Reloader": o.Reloader == nil, "Inventory": o.Inventory == nil,
		"OverrideStore": o.OverrideStore == nil, "Publisher": o.Publisher == nil, "Pins": o.Pins == nil,
		"Audit": o.Audit == nil, "History": o.History == nil, "Members": o.Members == nil, "Self": o.Self == nil,
		"Places": o.Places == nil, "DNSView": o.DNSView == nil, "Decisions": o.Decisions == nil,
	} {
		if missing {
			return errors.New("httpapi: Options." + name + " is not set")
		}
	}
	return nil
}
