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
	"gslb.internal/overwatch/internal/answer/failback"
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

// Options configures a Server and contains the parts that a Server calls. Every field is required unless its comment
// says that it is optional.
type Options struct {
	API       config.API // listener, TLS, tokens and networks
	NodeID    string     // name of this node, a valid Host
	Build     buildinfo.Info
	StartedAt time.Time // start of the process, with a monotonic clock reading

	// Metrics answers GET /metrics; nil if the API does not serve metrics.
	Metrics http.Handler

	// SigningKeys returns the keys by zone, in each zone the oldest first; nil if the node does not sign.
	SigningKeys func() []dnssec.KeyState
	// KeySync exchanges the keys with other nodes; nil if the node does not sign.
	KeySync KeySync

	// Config returns the current configuration, and the time at which it was applied.
	Config func() (*config.Config, time.Time)
	// Fitness reports whether the node works.
	Fitness Fitness
	// View contains the backends, agents and admin states of the registry.
	View *registry.View
	// Changes applies changes of admin states, servers, agents and holds.
	Changes *changes.Changes
	// Failbacks has the regions that await failback.
	Failbacks Failbacks
	// Definitions stores domains, regions, mappings and settings of the API.
	Definitions Definitions
	// RestartRequired returns the keys whose new value takes effect after a restart.
	RestartRequired func() []string
	// Reload reloads the configuration. It returns the changed keys, and the changed keys that require a restart. For an
	// invalid file, it returns settings.Problems and changes no setting.
	Reload func(context.Context) (changes, restart []string, err error)
	// ConfigPath is the configuration file.
	ConfigPath string
	// CreatedAt returns the time at which a domain was added to the configuration file, or the zero time for other
	// domains. nil means the zero time.
	CreatedAt func(domain string) time.Time
	// ValidateConfig validates the text of a configuration. It reads no files and no environment variables.
	ValidateConfig func(text string) settings.Problems
	// TargetProblem returns the fault of a server with a host name, or "". nil reports no faults.
	TargetProblem func(id definitions.TargetID) string
	// Inventory stores the servers that were created with the API and have an address.
	Inventory Inventory
	// Applied stores the previous objects of applied documents.
	Applied operations.AppliedStore
	// Replication sends changes to the other nodes.
	Replication Replication
	// Hints receives hints of the other nodes.
	Hints Hints
	// DiskTakes returns the age of the current write to the disk, 0 without one; nil is always 0.
	DiskTakes func() time.Duration
	// Flush returns when all changes made before the call are in the answers of DNS.
	Flush func(context.Context) error
	// Pins has the pinned agents and the locked tokens.
	Pins Pins
	// Drains reports when drained backends are safe to stop.
	Drains *drain.Tracker
	// CheckNow checks every backend for which wants returns true, waits for all checks, and returns the results sorted by
	// id.
	CheckNow func(ctx context.Context, wants func(registry.ID) bool) ([]registry.CheckResult, error)
	// Places returns the location table of DNS clients.
	Places func() *geo.Table
	// OmittedRecords returns the records of the API that DNS does not serve.
	OmittedRecords func() *publish.Omitted
	// DNSView returns the published view of DNS answers.
	DNSView func() *zone.View
	// Decisions counts and samples answers of load-balanced names.
	Decisions *decisions.Recorder
	// Audit is the audit log.
	Audit *audit.Log
	// Events is the journal of events.
	Events *journal.Journal
	// Notifier sends events to receivers.
	Notifier Notifier
	// Refused adds a rejected request to the audit log. It must not block.
	Refused func(r refusals.Request, requestID string)
	// Self returns the addresses of DNS and the number of queries.
	Self func() nodes.Self
	// History holds the figures of the last thirty days.
	History *history.Recorder
	// Members returns the overwatch nodes that gossip knows, including this node.
	Members func() []gossip.Member
	// HeardFrom returns the source of the last message from the holder of a certificate, or the zero value.
	HeardFrom func(identity.KeyID) netip.AddrPort

	Logger zerolog.Logger
	Now    func() time.Time // nil is time.Now
}

// Fitness reports the conditions and the status of the node; conditions.Judge implements it.
type Fitness interface {
	Readiness() api.Readiness
	Status() api.ServiceStatus
	// Conditions returns all current conditions.
	Conditions() []api.Condition
	// Judgement returns Status, and its reason unless the node is healthy.
	Judgement() (status api.ServiceStatus, message string)
}

// Failbacks has the regions that await failback; failback.Tracker implements it. Domains are named as services of the
// registry.
type Failbacks interface {
	Of(domain string) []failback.Pending
	List() []failback.Pending
	// InUse returns the regions in the answers of a domain with a failback setting, sorted; nil for other domains.
	InUse(domain string) []string
}

// Definitions stores the objects that were created with the API, except servers with an address.
type Definitions interface {
	operations.Definitions
	document.Definitions
	// Propose parses the text of a configuration file as a reload does.
	Propose(text string) (control.Proposed, error)
	// PreviewFile returns the view of the names for which wanted returns true, with a proposed file and the given
	// backends. It changes no state.
	PreviewFile(proposed control.Proposed, backends publish.Backends, wanted func(name string) bool) (*zone.View, error)
}

// Inventory stores the servers that were created with the API and have an address.
type Inventory interface {
	operations.Inventory
	document.Inventory
}

// Pins has the pinned agents and the locked tokens.
type Pins interface {
	Agents() []trust.Record
	Page(offset, limit int) (records []trust.Record, total int)
	Count(soon time.Duration) trust.Counts
	Get(agentID string) (trust.Record, bool)
	// Services returns the services for which an agent has proved the token.
	Services(agentID string) []string
	// Troubles returns the agents that the node refuses.
	Troubles() []trust.Trouble
	Locks() []trust.Lock
	// Select returns the ids of the selected agents.
	Select(trust.Selection) []string
}

func (o *Options) complete() error {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.OmittedRecords == nil {
		o.OmittedRecords = func() *publish.Omitted { return nil }
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
		"Failbacks": o.Failbacks == nil, "Notifier": o.Notifier == nil, "Drains": o.Drains == nil,
		"Members": o.Members == nil, "HeardFrom": o.HeardFrom == nil, "Self": o.Self == nil,
		"Places": o.Places == nil, "DNSView": o.DNSView == nil, "Decisions": o.Decisions == nil,
	} {
		if missing {
			return errors.New("httpapi: Options." + name + " is not set")
		}
	}
	return nil
}
