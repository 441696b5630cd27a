package gossip

import (
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/memberlist"
)

// Status says how another overwatch node looks from here.
type Status string

// The statuses. A node is suspect when its pings have gone unanswered for some intervals.
const (
	StatusAlive   Status = "alive"
	StatusSuspect Status = "suspect"
	StatusDead    Status = "dead"
)

// suspectAfter is how many probe intervals, for each other member, may pass without an answer.
const suspectAfter = 3

// Member is an overwatch node that memberlist knows: this one, or one found through the seeds.
type Member struct {
	Name            string
	Address         netip.AddrPort
	Region, Version string
	Status          Status
	RTT             time.Duration // of the last ping; 0 when unknown
	LastSeen        time.Time     // when it last answered
	JoinedAt        time.Time
	Self            bool
}

// members mirrors memberlist's list: memberlist's own hands out pointers into its state.
type members struct {
	interval time.Duration // between probes

	mu     sync.Mutex
	byName map[string]*Member
}

func newMembers(self Member, interval time.Duration) *members {
	return &members{interval: interval, byName: map[string]*Member{self.Name: &self}}
}

// list returns all members ordered by name.
func (m *members) list(now time.Time) []Member {
	m.mu.Lock()
	defer m.mu.Unlock()
	patience := suspectAfter * m.interval * time.Duration(len(m.byName))
	out := make([]Member, 0, len(m.byName))
	for _, member := range m.byName {
		shown := *member
		if shown.Self {
			shown.LastSeen = now
		} else if shown.Status == StatusAlive && now.Sub(shown.LastSeen) > patience {
			shown.Status = StatusSuspect
		}
		out = append(out, shown)
	}
	slices.SortFunc(out, func(a, b Member) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// alive is the number of members that are not dead.
func (m *members) alive() (n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, member := range m.byName {
		if member.Status != StatusDead {
			n++
		}
	}
	return n
}

// room reports whether a node of this name may be added. The dead make room.
func (m *members) room(name string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.byName[name] != nil || len(m.byName) < maxMembers {
		return true
	}
	for old, member := range m.byName {
		if member.Status == StatusDead {
			delete(m.byName, old)
			return true
		}
	}
	return false
}

func (m *members) joined(n *memberlist.Node, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	member := m.byName[n.Name]
	if member != nil && member.Self {
		return
	}
	if member == nil {
		member = &Member{Name: n.Name}
		m.byName[n.Name] = member
	}
	member.Status, member.JoinedAt, member.LastSeen = StatusAlive, now, now
	member.describe(n)
}

func (m *members) updated(n *memberlist.Node) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if member := m.byName[n.Name]; member != nil && !member.Self {
		member.describe(n)
	}
}

func (m *members) left(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if member := m.byName[name]; member != nil && !member.Self {
		member.Status, member.RTT = StatusDead, 0
	}
}

func (m *members) answered(name string, rtt time.Duration, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if member := m.byName[name]; member != nil {
		member.RTT, member.LastSeen = rtt, now
	}
}

// describe copies what memberlist knows of a node.
func (m *Member) describe(n *memberlist.Node) {
	if addr, ok := netip.AddrFromSlice(n.Addr); ok {
		m.Address = netip.AddrPortFrom(addr.Unmap(), n.Port)
	}
	m.Region, m.Version, _ = parseMeta(n.Meta)
}
