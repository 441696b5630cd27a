package httpapi

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"time"

	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/answer/decisions"
	"gslb.internal/overwatch/internal/answer/dnssec"
	"gslb.internal/overwatch/internal/answer/geo"
	"gslb.internal/overwatch/internal/answer/publish"
	"gslb.internal/overwatch/internal/answer/zone"
	"gslb.internal/overwatch/internal/control"
	"gslb.internal/overwatch/internal/control/changes"
	"gslb.internal/overwatch/internal/control/document"
	"gslb.internal/overwatch/internal/control/drain"
	"gslb.internal/overwatch/internal/control/operations"
	"gslb.internal/overwatch/internal/health/gossip"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/health/trust"
	"gslb.internal/overwatch/internal/operate/history"
	"gslb.internal/overwatch/internal/operate/nodes"
	"gslb.internal/overwatch/internal/operate/refusals"
	"gslb.internal/overwatch/internal/state/audit"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/overwatch/internal/state/journal"
	"gslb.internal/shared/api"
	"gslb.internal/shared/buildinfo"
	"gslb.internal/shared/identity"
	"gslb.internal/shared/settings"
)

// Options configures a Server and holds the owners that it calls. Every field is required unless it says otherwise.
type Options struct {
	API       config.API // where to listen and whom to admit
	NodeID    string     // the node's own name, accepted as Host
	Build     buildinfo.Info
	StartedAt time.Time // when the process started, with a monotonic reading

	// Metrics answers GET /metrics; nil when metrics have a listener of their own, or none.
	Metrics http.Handler

	// SigningKeys lists the keys of the zones, zone by zone, the oldest first; nil when answers are not signed.
	SigningKeys func() []dnssec.KeyState
	// KeySync exchanges them with other nodes; nil when answers are not signed.
	KeySync KeySync

	// Config returns the configuration in force and when it came into force.
	Config func() (*config.Config, time.Time)
	// Fitness judges whether the node works.
	Fitness Fitness
	// View holds the registry's backends, agents and overrides.
	View *registry.View
	// Changes applies changes of admin states, servers, agents and holds.
	Changes *changes.Changes
	// Definitions holds domains, regions, mappings and settings of the API.
	Definitions Definitions
	// RestartRequired names the keys whose value in force is not the one that
	// the next start will have.
	RestartRequired func() []string
	// Reload reads the configuration again. It returns the keys that changed, and those of them that need a restart. A
	// faulty file is settings.Problems and changes nothing.
	Reload func(context.Context) (changes, restart []string, err error)
	// ConfigPath is the configuration file.
	ConfigPath string
	// CreatedAt returns when a domain came into the configuration file, the zero time for another; nil is never.
	CreatedAt func(domain string) time.Time
	// ValidateConfig checks the text of a configuration. It
	// reads no files and no environment.
	ValidateConfig func(text string) settings.Problems
	// TargetProblem says what is wrong with the name or the addresses of a server by host name, "" where nothing is;
	// nil: that is not known.
	TargetProblem func(id definitions.TargetID) string
	// Inventory holds the servers that the API has created.
	Inventory Inventory
	// Applied keeps what applies of documents have changed.
	Applied operations.AppliedStore
	// Replication carries changes to the other nodes.
	Replication Replication
	// DiskTakes returns the age of the write that is under way, 0 when there is none. nil: changes wait for no disk.
	DiskTakes func() time.Duration
	// Flush returns when all changes made before the call are in the answers of DNS.
	Flush func(context.Context) error
	// Pins holds the pinned agents.
	Pins Pins
	// Drains tells when drained backends are safe to stop.
	Drains *drain.Tracker
	// CheckNow checks every backend that wants accepts, waits for all, and returns the verdicts ordered by id.
	CheckNow func(ctx context.Context, wants func(registry.ID) bool) ([]registry.CheckResult, error)
	// Places returns the table by which DNS places clients.
	Places func() *geo.Table
	// DNSView returns the view that DNS answers from now.
	DNSView func() *zone.View
	// Decisions counts and samples steered answers.
	Decisions *decisions.Recorder
	// Audit is the audit log.
	Audit *audit.Log
	// Events is the journal of what happened.
	Events *journal.Journal
	// Notifier sends events to receivers.
	Notifier Notifier
	// Refused is called for each refused request, for the audit log. It must not block.
	Refused func(r refusals.Request, requestID string)
	// Self returns the addresses of DNS and the number of queries.
	Self func() nodes.Self
	// History holds the figures of the last thirty days.
	History *history.Recorder
	// Members lists the overwatch nodes that gossip knows, this one included.
	Members func() []gossip.Member
	// HeardFrom returns the source of the newest message of a certificate's holder, not valid if none is known.
	HeardFrom func(identity.KeyID) netip.AddrPort

	Logger zerolog.Logger
	Now    func() time.Time // nil is time.Now
}

// Fitness is the node's judgement of itself; conditions.Judge implements it.
type Fitness interface {
	Readiness() api.Readiness
	Status() api.ServiceStatus
	// Conditions lists the conditions that hold, also those that leave the judgement healthy.
	Conditions() []api.Condition
	// Judgement returns Status, and the reason where that is not healthy.
	Judgement() (status api.ServiceStatus, message string)
}

// Definitions holds the definitions of the API, which are all its objects but servers that have an address.
type Definitions interface {
	operations.Definitions
	document.Definitions
	// Propose reads the text of another configuration file, as a reload would.
	Propose(text string) (control.Proposed, error)
	// PreviewFile returns the view that would answer for the names that wanted accepts, under a proposed file and with
	// the given backends. Nothing changes.
	PreviewFile(proposed control.Proposed, backends publish.Backends, wanted func(name string) bool) (*zone.View, error)
}

// Inventory holds the servers of the API.
type Inventory interface {
	operations.Inventory
	document.Inventory
}

// Pins holds the pinned agents and locked tokens.
type Pins interface {
	Agents() []trust.Record
	Page(offset, limit int) (records []trust.Record, total int)
	Count(soon time.Duration) trust.Counts
	Get(agentID string) (trust.Record, bool)
	// Services returns the services whose tokens an agent has proved.
	Services(agentID string) []string
	// Troubles lists the agents that the node refuses.
	Troubles() []trust.Trouble
	Locks() []trust.Lock
	// Select returns the ids of the selected agents.
	Select(trust.Selection) []string
}

func (o *Options) complete() error {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.CreatedAt == nil {
		o.CreatedAt = func(string) time.Time { return time.Time{} }
	}
	for name, missing := range map[string]bool{
		"Config": o.Config == nil, "Fitness": o.Fitness == nil, "View": o.View == nil,
		"Definitions": o.Definitions == nil, "RestartRequired": o.RestartRequired == nil,
		"ValidateConfig": o.ValidateConfig == nil, "Reload": o.Reload == nil, "Inventory": o.Inventory == nil,
		"Changes": o.Changes == nil, "Applied": o.Applied == nil, "Flush": o.Flush == nil, "Pins": o.Pins == nil,
		"Audit": o.Audit == nil, "Events": o.Events == nil, "Refused": o.Refused == nil, "History": o.History == nil,
		"Notifier": o.Notifier == nil, "Drains": o.Drains == nil,
		"Members": o.Members == nil, "HeardFrom": o.HeardFrom == nil, "Self": o.Self == nil,
		"Places": o.Places == nil, "DNSView": o.DNSView == nil, "Decisions": o.Decisions == nil,
	} {
		if missing {
			return errors.New("httpapi: Options." + name + " is not set")
		}
	}
	return nil
}
