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
	"gslb.internal/overwatch/internal/answer/failback"
	"gslb.internal/overwatch/internal/cluster/replication"
	"gslb.internal/overwatch/internal/health/gossip"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/health/trust"
	"gslb.internal/overwatch/internal/leaf/httpserve"
	"gslb.internal/shared/api"
)

// statusAge is the maximum age of a Status. The computation reads every backend, and any client may request it.
const statusAge = 500 * time.Millisecond

// Options contains the data sources of the conditions. DNSServing, ChecksCycled, Domains and View are required.
type Options struct {
	// DNSServing reports whether the DNS server listens and has answers.
	DNSServing func() bool
	// ChecksCycled reports whether the answers include the first cycle of the node's own health checks. It is true if
	// validation is off.
	ChecksCycled func() bool
	// Domains lists the load-balanced names of the node.
	Domains func() []Domain
	View    *registry.View
	// Failbacks lists the regions that await failback; nil: none.
	Failbacks func() []failback.Pending
	// FlapWindow returns overwatch.flapping.window; nil: the default.
	FlapWindow func() time.Duration
	// KeysLost reports whether the signing keys of a zone were lost, so that no key matches the DS record at the parent.
	// nil: answers are not signed.
	KeysLost func() bool
	// KeysApart reports whether this node may sign with other keys than the other nodes, because it has no secret for the
	// key exchange. nil: answers are not signed.
	KeysApart func() bool
	// SigningFails reports whether signing failed recently. nil: answers are not signed.
	SigningFails func() bool
	// KeyRolls returns the key rollovers that wait for a node, a parent or an operator. nil: answers are not signed.
	KeyRolls func() []dnssec.KeyRoll
	// KeyMismatches returns the zones with answers that do not validate with cached records. nil: answers are not signed.
	KeyMismatches func() []dnssec.KeyMismatch
	// SignaturesEnd returns the number of signatures that could not be renewed in time, and the first expiry. nil: answers
	// are not signed.
	SignaturesEnd func() (count int, first time.Time)
	// Rejecting returns the number of agents that probably reject the certificate of this node, and the address of one of
	// them. Rejected lists the other nodes that agents reject. nil: none.
	Rejecting func() (count int, from netip.Addr)
	Rejected  func() []gossip.RejectedNode
	// PeersServe returns the names of the peers, as of their first answers, and whether a peer has neither answered nor
	// failed. nil: no peers.
	PeersServe func() (names []string, pending bool)
	// Troubles lists the agents that this node rejects; nil: none.
	Troubles func() []trust.Trouble
	// Agents, Locks, KeySync, Unheard and Certificates are for Conditions; nil: none.
	Agents  func() []trust.Record
	Locks   func() []trust.Lock
	KeySync func() api.DNSSECSyncState
	// Regions lists the names of the known regions; nil: the regions of agents are not checked.
	Regions func() []string
	// NotReplicated returns sentences about why admin states and objects of operators do not reach other nodes, or have no
	// effect on this node. nil: none.
	NotReplicated func() []string
	// NotNotified returns sentences, by target, about why a target receives no notifications. nil: none.
	NotNotified func() map[string]string
	// ConfigFault returns the path of the configuration file and the reason why the node cannot use the file; the reason
	// is empty for a valid file. DatabaseFault does the same for the geolocation database. nil: no faults.
	ConfigFault, DatabaseFault func() (path, reason string)
	// QueryLogFault returns the file of the query log, and why it cannot be written. The reason is empty if it can be
	// written. nil: no faults.
	QueryLogFault func() (path, reason string)
	// Unheard lists the nodes without gossip messages to this node.
	Unheard func() []gossip.SilentNode
	// LostPeers lists the peers that do not answer. SharedIDs lists the node IDs that two running nodes use.
	LostPeers func() []replication.LostPeer
	SharedIDs func() []replication.SharedID
	// NoAgreement returns the reason why other nodes cannot confirm a failure at present; "": they can, or it is not
	// required. nil: not required.
	NoAgreement func() string
	// Certificates lists the certificates of the API and the authorities that it trusts.
	Certificates func() []httpserve.Dated
	// StoreFailing reports whether the node cannot store data. nil: the node stores no data.
	StoreFailing func() bool
	Now          func() time.Time // nil: time.Now
}

// Judge derives readiness, status and conditions of the node from the facts in Options.
type Judge struct {
	o        Options
	began    time.Time
	caughtUp atomic.Bool // the node serves the names of its peers

	mu      sync.Mutex
	status  api.ServiceStatus
	message string
	down    int       // number of names
	until   time.Time // expiry of status

	lossMu    sync.Mutex
	lost      map[string]time.Time // losses of the last search by kind and name; the value is group.partly
	lossFound *losses
	lossUntil time.Time // time of the next search

	exchangeMu sync.Mutex
	exchange   map[string]exchangeFailure // by the URL of the peer
}

// New returns a Judge. It returns an error if a required source is missing.
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
// ready when both are true, and when it serves the names that other nodes serve, or has waited for them for peersWait.
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

// Status returns the status of the service: the status of the worst active condition (see api.ConditionTypes). It is at
// most statusAge old. It ignores backends without a domain and backends with an override to unhealthy.
func (j *Judge) Status() api.ServiceStatus {
	status, _ := j.Judgement()
	return status
}

// Judgement returns the Status and the reasons for a status other than healthy. The reasons are fixed sentences without
// object names, since any client may request them.
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

// renew computes the status if the last status has expired. The caller holds the lock.
func (j *Judge) renew() {
	if now := j.o.Now(); !now.Before(j.until) {
		j.status, j.message = j.judge()
		j.until = now.Add(statusAge)
	}
}

// judge returns the status of the worst condition, and a message with the conditions above attention.
func (j *Judge) judge() (api.ServiceStatus, string) {
	holds := map[api.ConditionKind]bool{}
	j.down = 0
	j.walk(false, func(kind api.ConditionKind, _ string, _ func() (string, string)) {
		holds[kind] = true
		if kind == api.NameUnanswered || kind == api.NameOnLastResort {
			j.down++
		}
	})
	if holds[api.NoNameAnswered] { // this condition includes the others
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
