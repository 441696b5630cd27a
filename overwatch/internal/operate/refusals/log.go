// Package refusals records the rejected messages and requests of agents, unknown senders and API clients in the audit
// log. It limits their number: one entry per hour for the same rejection, a maximum for each code and each source, and
// an hourly entry with the number of other rejections. gossip and httpapi call Note and Request, which add to the audit
// queue and return. The root calls Run, which ends the hours. The package stores the counts of the hour and rejects no
// message itself.
package refusals

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"gslb.internal/overwatch/internal/health/gossip"
	"gslb.internal/overwatch/internal/health/trust"
	"gslb.internal/overwatch/internal/state/audit"
	"gslb.internal/shared/api"
)

// Limits of the audit entries about rejections per hour. Anyone with the gossip key can invent agents and sources of
// datagrams, and anyone with access to the API can send invalid requests. The limits prevent such rejections from
// displacing other entries. The metrics count all rejections.
const (
	refusalsPerGroup  = 16 // per code, separately for pinned agents, unknown senders over TCP and unknown senders over UDP
	refusalsPerSource = 4  // per source within a group
	// refusalsPerHour is the maximum number of hourly entries about agents, in addition to the entry with the number of
	// other rejections.
	refusalsPerHour = refusalCodes * refusalKinds * refusalsPerGroup
	refusalCodes    = 9 // number of codes that have entries
	refusalKinds    = 3
	// requestsPerGroup is the maximum number of hourly entries about requests of authorized clients with the same status.
	requestsPerGroup = 64
	// namedSources is the maximum number of sources in the entry that counts rejections without an entry.
	namedSources = 8
)

// group is a set of rejections that share a maximum of entries per hour.
type group struct {
	code   string // a word for agents, an HTTP status for requests
	known  bool   // a pinned agent or an authorized client
	stream bool   // true for requests, and for unknown agents over TCP
}

// bounds returns the maximum number of hourly entries for a group, and for each source in the group.
func (r group) bounds() (group, source int) {
	if r.known && r.stream { // an authorized client
		return requestsPerGroup, requestsPerGroup
	}
	return refusalsPerGroup, refusalsPerSource
}

// groupSource is a source in a group.
type groupSource struct {
	group  group
	source netip.Prefix
}

// Log queues audit entries about rejections within the limits.
type Log struct {
	add func(audit.QueuedEntry) bool

	mu       sync.Mutex
	since    time.Time
	told     map[any]bool // rejections with an entry since then: refused and Request
	ofGroup  map[group]int
	ofSource map[groupSource]int
	left     map[string]int
	from     map[netip.Prefix]int // at most namedSources
}

// New returns a Log that queues its entries with add. add must not block and returns false if the queue is full;
// audit.Queue.Add implements it.
func New(add func(audit.QueuedEntry) bool) *Log {
	return &Log{
		add: add, told: make(map[any]bool),
		ofGroup:  make(map[group]int),
		ofSource: make(map[groupSource]int), left: make(map[string]int), from: make(map[netip.Prefix]int),
	}
}

// Note records a rejected message of an agent. It does not block and is safe for concurrent use.
func (r *Log) Note(n gossip.Refused) {
	what := refused{agent: n.AgentID, service: n.Claim.Service, code: n.Claim.Code}
	if n.Claim.Address.IsValid() {
		what.backend = netip.AddrPortFrom(n.Claim.Address, n.Claim.Port)
	}
	if !what.worth() {
		return
	}
	r.queueEntry(what, group{code: what.code.String(), known: n.Known, stream: n.Stream && !n.Known}, audit.Change{
		Resource: "agent", ResourceID: n.AgentID, Actor: n.AgentID, ActorType: api.ActorSystem,
		ActorIP: n.From.Unmap().String(), Err: what,
	}, n.From)
}

// queueEntry queues an audit entry unless the same rejection has an entry in this hour, or its group is full. what
// identifies the rejection.
func (r *Log) queueEntry(what any, in group, entry audit.Change, from netip.Addr) {
	entry.Action = api.AuditRefused
	at := groupSource{in, trust.HostOf(from.Unmap())}
	inGroup, ofSource := in.bounds()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.told[what] {
		return
	}
	if r.ofGroup[in] >= inGroup || r.ofSource[at] >= ofSource {
		r.leaveOut(in.code, at.source)
		return
	}
	if !r.add(audit.QueuedEntry{Change: entry}) { // the disk is slow: the agent will repeat its message
		r.leaveOut(in.code, at.source)
		return
	}
	r.told[what] = true
	r.ofGroup[in]++
	r.ofSource[at]++
}

// leaveOut counts a rejection without an entry. The caller holds mu.
func (r *Log) leaveOut(code string, source netip.Prefix) {
	r.left[code]++
	if _, named := r.from[source]; named || len(r.from) < namedSources {
		r.from[source]++
	}
}

// endHour queues the entry that counts the rejections of the hour without an entry, and starts the next hour. If the
// queue is full, the entry of the next hour counts these rejections.
func (r *Log) endHour(now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.left) == 0 || r.add(audit.QueuedEntry{Change: r.leftOut()}) {
		r.since = now
		clear(r.left)
		clear(r.from)
	}
	clear(r.told)
	clear(r.ofGroup)
	clear(r.ofSource)
}

// leftOut returns the entry with the numbers of rejections without an entry. The caller holds mu.
func (r *Log) leftOut() audit.Change {
	what := leftOut{since: r.since}
	resource := "request"
	for code, n := range r.left {
		if code[0] > '9' { // a word is a code of agents; a number is an HTTP status
			resource = "agent"
		}
		what.codes = append(what.codes, fmt.Sprintf("%s %d", code, n))
	}
	for source, n := range r.from {
		what.sources = append(what.sources, fmt.Sprintf("%s %d", source.Addr(), n))
	}
	slices.Sort(what.codes)
	slices.Sort(what.sources)
	return audit.Change{Action: api.AuditRefused, Resource: resource, Actor: audit.ActorNode,
		ActorType: api.ActorSystem, Err: what}
}

// leftOut has the numbers of refusals without an entry.
type leftOut struct {
	since          time.Time
	codes, sources []string
}

// Error returns the text for the audit log.
func (l leftOut) Error() string {
	return fmt.Sprintf("refused and left out of this log since %s: %s; among the sources: %s",
		l.since.UTC().Format(time.RFC3339), strings.Join(l.codes, ", "), strings.Join(l.sources, ", "))
}

// Run queues, each hour and when ctx ends, the entry about the rejections without an entry. It returns nil.
func (r *Log) Run(ctx context.Context) error {
	r.mu.Lock()
	r.since = time.Now()
	r.mu.Unlock()
	hour := time.NewTicker(time.Hour)
	defer hour.Stop()
	for {
		select {
		case <-ctx.Done():
			r.endHour(time.Now())
			return nil
		case <-hour.C:
			r.endHour(time.Now())
		}
	}
}
