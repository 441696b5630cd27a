package gossip

import (
	"maps"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/memberlist"
)

// Status is the state of an overwatch node, as this node sees it.
type Status string

// The statuses. A node is suspect when its pings have gone unanswered for some intervals.
const (
	StatusAlive   Status = "alive"
	StatusSuspect Status = "suspect"
	StatusDead    Status = "dead"
)

// The status of a member follows from this node's own pings alone: what other nodes say of it (suspect, dead) can be
// forged by whoever has the gossip key. memberlist does not ping a member that it calls dead, so this node does.

// suspectAfter is the number of probe intervals, for each member, that may pass without an answer.
const suspectAfter = 3

// Member is an overwatch node that memberlist knows: this one, or one found through seeds or peers.
type Member struct {
	Name            string
	Address         netip.AddrPort
	Region, Version string
	Status          Status
	RTT             time.Duration // of the last ping; 0 when unknown
	LastSeen        time.Time     // when it last answered
	JoinedAt        time.Time
	Self            bool

	gone bool // memberlist calls it dead
}

// members mirrors memberlist's list: memberlist's own hands out pointers into its state.
type members struct {
	interval time.Duration // between probes

	mu     sync.Mutex
	byName map[string]*Member
	asked  string // the member that was asked last
}

func newMembers(self Member, interval time.Duration) *members {
	return &members{interval: interval, byName: map[string]*Member{self.Name: &self}}
}

// list returns all members ordered by name.
func (m *members) list(now time.Time) []Member {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := make([]Member, 0, len(m.byName))
	for _, member := range m.byName {
		shown := *member
		if shown.Self {
			shown.LastSeen = now
		}
		shown.Status = m.status(member, now)
		out = append(out, shown)
	}
	slices.SortFunc(out, func(a, b Member) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// status judges a member by its answers. The caller holds mu.
func (m *members) status(member *Member, now time.Time) Status {
	switch silent := now.Sub(member.LastSeen); {
	case member.Self || silent <= suspectAfter*m.interval*time.Duration(len(m.byName)):
		return StatusAlive
	case member.gone:
		return StatusDead
	}
	return StatusSuspect
}

// next returns a member that memberlist calls dead, each time another one, and its last address.
func (m *members) next() (name string, at netip.AddrPort, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	names := slices.Sorted(maps.Keys(m.byName))
	after, _ := slices.BinarySearch(names, m.asked+"\x00")
	for _, name := range slices.Concat(names[after:], names[:after]) {
		if member := m.byName[name]; member.gone && member.Address.IsValid() {
			m.asked = name
			return name, member.Address, true
		}
	}
	return "", netip.AddrPort{}, false
}

// alive returns the number of members that are not dead.
func (m *members) alive() (n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, member := range m.byName {
		if m.status(member, time.Now()) != StatusDead {
			n++
		}
	}
	return n
}

// admits reports whether a node of this name may be added. In a full list it removes a dead one for it.
func (m *members) admits(name string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.byName[name] != nil || len(m.byName) < maxMembers {
		return true
	}
	for old, member := range m.byName {
		if m.status(member, time.Now()) == StatusDead {
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
	member.gone, member.JoinedAt, member.LastSeen = false, now, now
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
		member.gone = true
	}
}

func (m *members) answered(name string, rtt time.Duration, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if member := m.byName[name]; member != nil {
		member.RTT, member.LastSeen = rtt, now
	}
}

// describe sets the address, region and version of a member from memberlist's record of the node.
func (m *Member) describe(n *memberlist.Node) {
	if addr, ok := netip.AddrFromSlice(n.Addr); ok {
		m.Address = netip.AddrPortFrom(addr.Unmap(), n.Port)
	}
	m.Region, m.Version, _ = parseMeta(n.Meta)
}
