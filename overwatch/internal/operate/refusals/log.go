// Package refusals writes into the audit log the refusals of agents, strangers and clients of the API. Their number is
// bounded: the same refusal once an hour, a bound for each code and for each source, and an hourly entry that counts
// the rest. It owns the counts of the hour. gossip and httpapi call Note and Request, which add to the audit queue and
// return. The root calls Run, which ends the hours. The package refuses nothing itself.
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

// Bounds on the audit entries about refusals in an hour, since whoever has the gossip key can make up agents and the
// sources of datagrams, and whoever reaches the API can ask for anything: what others are refused must not be pushed
// out by that. The metrics count all refusals.
const (
	refusalsPerGroup  = 16 // of one code, by pinned agents, strangers over TCP and strangers over UDP each
	refusalsPerSource = 4  // of these, by one source
	// refusalsPerHour bounds the entries about agents of an hour, beside one entry that counts those left out.
	refusalsPerHour = refusalCodes * refusalKinds * refusalsPerGroup
	refusalCodes    = 9 // that are worth an entry
	refusalKinds    = 3
	// requestsPerGroup bounds the entries about requests of one status by those who may use the API.
	requestsPerGroup = 64
	// namedSources bounds the sources for which left-out refusals are counted.
	namedSources = 8
)

// group is a kind of refusals that share one bound of entries an hour. Codes of agents and those of requests, which
// always come by a stream, are different words.
type group struct {
	code          string
	known, stream bool
}

// bounds returns how many entries an hour may have of a group, and of one source in it.
func (r group) bounds() (group, source int) {
	if r.known && r.stream { // who may use the API
		return requestsPerGroup, requestsPerGroup
	}
	return refusalsPerGroup, refusalsPerSource
}

// groupSource is a source in a group.
type groupSource struct {
	group  group
	source netip.Prefix
}

// Log queues refusals within the bounds.
type Log struct {
	add func(audit.QueuedEntry) bool

	mu       sync.Mutex
	since    time.Time
	told     map[any]bool // since then: refused and Request
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

// Note takes a refusal. Any goroutine may call it; it never waits.
func (r *Log) Note(n gossip.Refused) {
	what := refused{agent: n.AgentID, service: n.Claim.Service, code: n.Claim.Code}
	if n.Claim.Address.IsValid() {
		what.backend = netip.AddrPortFrom(n.Claim.Address, n.Claim.Port)
	}
	if !what.worth() {
		return
	}
	r.take(what, group{code: what.code.String(), known: n.Known, stream: n.Stream && !n.Known}, audit.Change{
		Resource: "agent", ResourceID: n.AgentID, Actor: n.AgentID, ActorType: api.ActorSystem,
		ActorIP: n.From.Unmap().String(), Err: what,
	}, n.From)
}

// take queues an audit entry, unless the same refusal has one in this hour or its group is full. what identifies the
// refusal.
func (r *Log) take(what any, in group, entry audit.Change, from netip.Addr) {
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
	if !r.add(audit.QueuedEntry{Change: entry}) { // the disk is slow: an agent repeats its message
		r.leaveOut(in.code, at.source)
		return
	}
	r.told[what] = true
	r.ofGroup[in]++
	r.ofSource[at]++
}

// leaveOut counts a refusal of which there is no entry. The caller holds mu.
func (r *Log) leaveOut(code string, source netip.Prefix) {
	r.left[code]++
	if _, named := r.from[source]; named || len(r.from) < namedSources {
		r.from[source]++
	}
}

// endHour queues the entry that counts the refusals of the hour without an entry, and begins the next hour. If the
// queue is full, the entry of the next hour counts these refusals.
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

// leftOut returns the entry that counts the refusals without an entry. The caller holds mu.
func (r *Log) leftOut() audit.Change {
	what := leftOut{since: r.since}
	resource := "request"
	for code, n := range r.left {
		if code[0] > '9' { // a word, not the status of an answer
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

// leftOut counts the refusals that have no entry.
type leftOut struct {
	since          time.Time
	codes, sources []string
}

// Error returns the sentence that the audit log has of it.
func (l leftOut) Error() string {
	return fmt.Sprintf("refused and left out of this log since %s: %s; among the sources: %s",
		l.since.UTC().Format(time.RFC3339), strings.Join(l.codes, ", "), strings.Join(l.sources, ", "))
}

// Run queues, for each hour and when ctx ends, the entry about the refusals without an entry. It returns nil.
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
