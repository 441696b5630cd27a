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

// Status is this node's view of the state of an overwatch node.
type Status string

// The statuses. A node is suspect when it has not answered pings for some intervals.
const (
	StatusAlive   Status = "alive"
	StatusSuspect Status = "suspect"
	StatusDead    Status = "dead"
)

// The status of a member depends only on this node's own pings: other nodes' messages (suspect, dead) can be forged by
// a sender with the gossip key. memberlist does not ping dead members, so this node pings them.

// suspectAfter is the number of probe rounds that may pass without an answer. In a round, the node probes each member
// once, one per interval.
const suspectAfter = 3

// Member is an overwatch node in memberlist: this node, or a node found through seeds or peers.
type Member struct {
	Name            string
	Address         netip.AddrPort
	Region, Version string
	Status          Status
	RTT             time.Duration // of the last ping; 0 if unknown
	LastSeen        time.Time     // last answer
	JoinedAt        time.Time
	Self            bool

	isDead bool // memberlist treats the member as dead
}

// members copies the list of memberlist, which returns pointers into its state.
type members struct {
	interval time.Duration // between probes

	mu     sync.Mutex
	byName map[string]*Member
	asked  string // the dead member that was pinged last
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

// status returns the status of a member according to its answers. The caller holds mu.
func (m *members) status(member *Member, now time.Time) Status {
	switch silent := now.Sub(member.LastSeen); {
	case member.Self || silent <= suspectAfter*m.interval*time.Duration(len(m.byName)):
		return StatusAlive
	case member.isDead:
		return StatusDead
	}
	return StatusSuspect
}

// nextDead returns the next member that memberlist treats as dead, in rotation, and its last address.
func (m *members) nextDead() (name string, at netip.AddrPort, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	names := slices.Sorted(maps.Keys(m.byName))
	after, _ := slices.BinarySearch(names, m.asked+"\x00")
	for _, name := range slices.Concat(names[after:], names[:after]) {
		if member := m.byName[name]; member.isDead && member.Address.IsValid() {
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

// hasRoomFor reports whether a node of this name may be added. A full list loses a dead member.
func (m *members) hasRoomFor(name string) bool {
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

func (m *members) addMember(n *memberlist.Node, now time.Time) {
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
	member.isDead, member.JoinedAt, member.LastSeen = false, now, now
	member.describe(n)
}

func (m *members) updateMember(n *memberlist.Node) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if member := m.byName[n.Name]; member != nil && !member.Self {
		member.describe(n)
	}
}

func (m *members) markDead(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if member := m.byName[name]; member != nil && !member.Self {
		member.isDead = true
	}
}

func (m *members) recordPing(name string, rtt time.Duration, now time.Time) {
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
