// Package conditions derives the condition of a node: whether the node is ready, whether its service is healthy, which
// conditions need an operator, and whether an agent still reports.
//
// httpapi, metrics and events call it. It reads the state of other packages and stores none itself. It must not change
// state. All methods are safe for concurrent use.
package conditions

import (
	"errors"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"gslb.internal/overwatch/internal/answer/dnssec"
	"gslb.internal/overwatch/internal/cluster/replication"
	"gslb.internal/overwatch/internal/health/gossip"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/health/trust"
	"gslb.internal/overwatch/internal/leaf/httpserve"
	"gslb.internal/shared/api"
)

// statusAge bounds the age of a Status: judging it looks at every backend,
// and anybody may ask.
const statusAge = 500 * time.Millisecond

// Options has the sources of the facts. DNSServing, ChecksCycled, Domains and View are required.
type Options struct {
	// DNSServing reports whether the DNS server listens and has answers.
	DNSServing func() bool
	// ChecksCycled reports whether the answers follow the first cycle of the node's own health checks. Where validation
	// is off, there is nothing to wait for.
	ChecksCycled func() bool
	// Domains lists the names that the node steers.
	Domains func() []Domain
	View    *registry.View
	// FlapWindow returns the time of overwatch.flapping.window; nil: the default.
	FlapWindow func() time.Duration
	// KeysLost reports whether a zone's signing keys were lost, so that the
	// parent's DS record fits none; nil where nothing is signed.
	KeysLost func() bool
	// KeysApart reports whether this node may sign with other keys than the other
	// nodes, since it has no secret to exchange them by; nil where nothing is signed.
	KeysApart func() bool
	// SigningFails reports whether answers could not be signed lately; nil where nothing is signed.
	SigningFails func() bool
	// KeyRolls returns the changes of signing keys that wait for somebody; nil where answers are not signed.
	KeyRolls func() []dnssec.KeyRoll
	// KeyMismatches returns the zones with answers that do not validate with cached records; nil where answers are not
	// signed.
	KeyMismatches func() []dnssec.KeyMismatch
	// SignaturesEnd returns how many signatures could not be made again in time, and when the first of them ends; nil
	// where nothing is signed.
	SignaturesEnd func() (count int, first time.Time)
	// Rejecting returns the number of agents that seem to reject the certificate of this node, and the address of any
	// such agent; Rejected lists the other nodes that agents reject; nil: there are none.
	Rejecting func() (count int, from netip.Addr)
	Rejected  func() []gossip.RejectedNode
	// PeersServe returns the names that other nodes serve, as of their first answers, and whether one has neither answered
	// nor failed; nil: there are no other nodes.
	PeersServe func() (names []string, pending bool)
	// Troubles lists the agents that this node refuses; nil: there are none.
	Troubles func() []trust.Trouble
	// Agents, Locks, KeySync, Unheard and Certificates are for Conditions; nil where there are none.
	Agents  func() []trust.Record
	Locks   func() []trust.Lock
	KeySync func() api.DNSSECSyncState
	// Regions lists the names of the known regions; nil: agents' regions are not judged.
	Regions func() []string
	// NotReplicated returns sentences about why operators' decisions do not reach other nodes, or have no effect here;
	// nil: there are none.
	NotReplicated func() []string
	// NotNotified returns, by target, a sentence about why a receiver of notifications gets none; nil: there are none.
	NotNotified func() map[string]string
	// ConfigFault returns the path of the configuration file, and why the node cannot use the file as it is; an empty
	// reason for a file that it can. DatabaseFault is the same for the geolocation database. nil: there are no faults.
	ConfigFault, DatabaseFault func() (path, reason string)
	// Unheard lists the other nodes that gossip does not hear.
	Unheard func() []gossip.SilentNode
	// LostPeers lists the peers that do not answer; SharedIDs the node ids that two running nodes have.
	LostPeers func() []replication.LostPeer
	SharedIDs func() []replication.SharedID
	// Certificates lists those that the API shows and those of the authorities that it trusts.
	Certificates func() []httpserve.Dated
	// StoreFailing reports whether nothing can be stored; nil where nothing is.
	StoreFailing func() bool
	Now          func() time.Time // nil is time.Now
}

// Judge derives readiness, status and conditions of the node from the facts in Options.
type Judge struct {
	o        Options
	began    time.Time
	caughtUp atomic.Bool // with the names that peers serve

	mu      sync.Mutex
	status  api.ServiceStatus
	message string
	down    int       // names
	until   time.Time // expiry of status

	lossMu    sync.Mutex
	lost      map[string]time.Time // losses of the last search, by kind and name, with group.partly
	lossFound *losses
	lossUntil time.Time // time of the next search

	exchangeMu sync.Mutex
	exchange   map[string]exchangeFailure // by the URL of the peer
}

// New returns a Judge; it fails when a fact has no source.
func New(o Options) (*Judge, error) {
	if o.DNSServing == nil || o.ChecksCycled == nil || o.Domains == nil || o.View == nil {
		return nil, errors.New("ready: an option is not set")
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Judge{o: o, began: o.Now()}, nil
}

// Readiness returns whether the DNS server listens, and whether one cycle of health checks has completed. The node is
// ready when both hold, and when it serves the names that other nodes serve, or has waited for them for peersWait.
func (j *Judge) Readiness() api.Readiness {
	r := api.Readiness{DNSReady: j.o.DNSServing(), HealthReady: j.o.ChecksCycled()}
	r.Ready = r.DNSReady && r.HealthReady
	var missing []string
	if !r.DNSReady {
		missing = append(missing, "the DNS server does not answer yet")
	}
	if !r.HealthReady {
		missing = append(missing, "no cycle of health checks has completed yet")
	}
	if why := j.behindPeers(); why != "" {
		r.Ready = false
		missing = append(missing, why)
	}
	r.Message = strings.Join(missing, "; ")
	return r
}

// Status returns the status of the service, which follows from the worst condition that holds (see api.ConditionTypes).
// It is at most statusAge old. A backend of no domain does not count, nor does one that an operator has called
// unhealthy.
func (j *Judge) Status() api.ServiceStatus {
	status, _ := j.Judgement()
	return status
}

// Judgement returns Status and, where that is not healthy, the reasons: sentences of a closed set that name no object,
// since anybody may ask.
func (j *Judge) Judgement() (status api.ServiceStatus, message string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.renew()
	return j.status, j.message
}

// NamesDown returns the number of domains with fewer serving backends than required. It is as old as Status.
func (j *Judge) NamesDown() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.renew()
	return j.down
}

// Holding returns the number of active conditions of each kind.
func (j *Judge) Holding() map[api.ConditionKind]int {
	count := map[api.ConditionKind]int{}
	j.walk(true, func(kind api.ConditionKind, _ string, _ func() (string, string)) { count[kind]++ })
	return count
}

// renew derives the conditions if the last result is too old. The caller holds the lock.
func (j *Judge) renew() {
	if now := j.o.Now(); !now.Before(j.until) {
		j.status, j.message = j.judge()
		j.until = now.Add(statusAge)
	}
}

// judge returns the status of the worst condition, and a message of the conditions that are worse than attention.
func (j *Judge) judge() (api.ServiceStatus, string) {
	holds := map[api.ConditionKind]bool{}
	j.down = 0
	j.walk(false, func(kind api.ConditionKind, _ string, _ func() (string, string)) {
		holds[kind] = true
		if kind == api.NameUnanswered || kind == api.NameOnLastResort {
			j.down++
		}
	})
	if holds[api.NoNameAnswered] { // which says it all
		delete(holds, api.NameUnanswered)
		delete(holds, api.NameOnLastResort)
		delete(holds, api.BackendUnwell)
		delete(holds, api.RegionLost)
		delete(holds, api.AgentLost)
		delete(holds, api.Flapping)
	}
	status := api.ServiceHealthy
	var complaints []string
	for _, t := range api.ConditionTypes() {
		switch {
		case !holds[t.Kind] || t.Severity == api.SeverityAttention:
			continue
		case t.Severity == api.SeverityUnhealthy:
			status = api.ServiceUnhealthy
		case status == api.ServiceHealthy:
			status = api.ServiceDegraded
		}
		complaints = append(complaints, t.Public)
	}
	return status, strings.Join(complaints, "; ")
}
