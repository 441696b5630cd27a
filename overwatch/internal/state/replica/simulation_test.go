package replica_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"gslb.internal/overwatch/internal/state/replica"
)

// histories returns how many random histories the simulation makes. GSLB_REPLICA_HISTORIES has the night make more.
func histories(t *testing.T) uint64 {
	count, err := strconv.ParseUint(cmp.Or(os.Getenv("GSLB_REPLICA_HISTORIES"), "100"), 10, 32)
	if err != nil || count == 0 {
		t.Fatalf("GSLB_REPLICA_HISTORIES is %q: it must be a number from 1 on", os.Getenv("GSLB_REPLICA_HISTORIES"))
	}
	return count
}

const (
	retention = 6 * time.Hour
	skew      = 4 * time.Minute
	names     = 8
)

// world is a cluster in virtual time.
type world struct {
	t     *testing.T
	rand  *rand.Rand
	now   time.Time
	nodes []*member
	cut   map[[2]int]bool
	acked []replica.Object // decisions that operators were told of, and that no disk has lost since
	told  []decision
	made  int
	whole bool // no disk was lost since all nodes held the same: one may be
	story []string
}

// member is one node: what runs, and its disk.
type member struct {
	*world
	id      int
	offset  time.Duration
	up      bool
	starts  int
	table   *replica.Table
	stored  []replica.Object
	synced  time.Time
	backup  *backup
	fetched map[int][2]uint64 // start and number of the last change, by node
	disks   int
	audited map[string]bool // decisions that stand no more, by version and value
}

// decision is an object that a node has confirmed to an operator, and the disk that it was on.
type decision struct {
	replica.Object
	by   *member
	disk int
}

type backup struct {
	stored []replica.Object
	synced time.Time
}

func (w *world) tell(format string, args ...any) {
	w.story = append(w.story, w.now.Format("15:04:05 ")+fmt.Sprintf(format, args...))
}

func (m *member) name() string { return "node-" + strconv.Itoa(m.id) }

// start opens what the disk has.
func (m *member) start() {
	m.up, m.fetched = true, make(map[int][2]uint64)
	m.starts++
	var err error
	m.table, err = replica.New(replica.Options{NodeID: m.name(), Retention: retention, Objects: m.stored,
		Synced: m.synced, Now: func() time.Time { return m.now.Add(m.offset) }})
	if err != nil {
		m.t.Fatal(err)
	}
	m.mend()
}

func (m *member) mend() {
	before := m.stored
	mended := m.table.Mend()
	for _, o := range before {
		if now, _ := m.table.Get(o.Key); slices.ContainsFunc(mended, func(n replica.Object) bool { return n.Key == o.Key }) {
			m.audit(o)
			m.told = append(m.told, decision{now, m, m.disks})
		}
	}
	m.acked = append(m.acked, mended...)
	m.save()
	if len(mended) > 0 {
		m.lost(before)
	}
}

// audit notes that decisions stand no more.
func (m *member) audit(gone ...replica.Object) {
	for _, o := range gone {
		m.audited[id(o)] = true
	}
}

func id(o replica.Object) string {
	return fmt.Sprint(o.Key, o.Version, o.Deleted, string(o.Value))
}

// save puts everything on the disk.
func (m *member) save() {
	m.table.Collect(nil)
	m.stored, m.synced = m.table.All(), m.table.Synced()
}

// lost forgets decisions on objects that a disk had, where no disk has them, or a later one, any more.
func (w *world) lost(gone []replica.Object) {
	for _, o := range gone {
		w.acked = slices.DeleteFunc(w.acked, func(a replica.Object) bool {
			return a.Key == o.Key && order(a, o) <= 0 && !slices.ContainsFunc(w.nodes, func(m *member) bool {
				return slices.ContainsFunc(m.stored, func(there replica.Object) bool {
					return there.Key == a.Key && order(there, a) >= 0
				})
			})
		})
	}
}

// change makes a random decision of an operator on this node.
func (m *member) change() {
	key := replica.Key{Kind: "domain", Name: "d" + strconv.Itoa(m.rand.IntN(names))}
	var o replica.Object
	before, _ := m.table.Get(key)
	if m.rand.IntN(3) == 0 {
		if there, ok := m.table.Get(key); !ok || there.Deleted {
			return // 404
		}
		o = m.table.Delete(key)
	} else {
		m.made++
		o = m.table.Put(key, json.RawMessage(strconv.Itoa(m.made)))
	}
	m.save()
	m.audit(before) // as the entry of the change says
	m.acked = append(m.acked, o)
	m.told = append(m.told, decision{o, m, m.disks})
	m.tell("%s: %s %s deleted=%t %s", m.name(), key.Name, o.Version, o.Deleted, o.Value)
}

// ask makes a node take the changes of another, or everything it has.
func (m *member) ask(other *member, whole bool) {
	if m == other || !m.up || !other.up || m.cut[[2]int{min(m.id, other.id), max(m.id, other.id)}] {
		return
	}
	since := uint64(0)
	if had := m.fetched[other.id]; had[0] == uint64(other.starts) && !whole && !m.table.Joining() {
		since = had[1]
	}
	offer := other.table.Page(since, everything)
	merged := m.table.Merge(offer)
	if !offer.Joining && m.table.Digest() == other.table.Digest() {
		m.table.Met()
	}
	if len(merged.Refused) == 0 {
		m.fetched[other.id] = [2]uint64{uint64(other.starts), offer.Changes}
	}
	m.save()
	m.audit(merged.Lost...)
	m.audit(merged.Dropped...)
	m.lost(merged.Dropped)
	if len(merged.Taken)+len(merged.Dropped)+len(merged.Refused) > 0 {
		m.tell("%s takes %d of %s, drops %d, refuses %d", m.name(), len(merged.Taken), other.name(), len(merged.Dropped),
			len(merged.Refused))
	}
}

// round has every node ask every other.
func (w *world) round(whole bool) {
	for _, i := range w.rand.Perm(len(w.nodes)) {
		for _, j := range w.rand.Perm(len(w.nodes)) {
			w.nodes[i].ask(w.nodes[j], whole)
		}
	}
}

// restore replaces the disk by a backup, or by an empty one.
func (m *member) restore() {
	before := m.stored
	m.stored, m.synced = nil, time.Time{}
	m.disks++
	if m.backup != nil {
		m.stored, m.synced = m.backup.stored, m.backup.synced
	}
	m.lost(before)
	m.tell("%s has a disk of %d objects", m.name(), len(m.stored))
	m.start()
}

// awayForLong leaves a node out while the others go on for longer than tombstones live.
func (w *world) awayForLong(m *member) {
	w.tell("%s is away for long", m.name())
	m.up = false
	w.cut = make(map[[2]int]bool)
	for range 9 {
		w.now = w.now.Add(retention / 6)
		for _, other := range w.nodes {
			if other.up && w.rand.IntN(2) == 0 {
				other.change()
			}
		}
		w.round(true)
	}
	m.start()
	w.tell("%s is back", m.name())
}

func (w *world) step() {
	w.now = w.now.Add(time.Duration(w.rand.IntN(int(3 * time.Minute))))
	m := w.nodes[w.rand.IntN(len(w.nodes))]
	other := w.nodes[w.rand.IntN(len(w.nodes))]
	switch at := w.rand.IntN(100); {
	case at < 35 && m.up:
		m.change()
	case at < 75:
		m.ask(other, w.rand.IntN(4) == 0)
	case at < 80 && m != other:
		link := [2]int{min(m.id, other.id), max(m.id, other.id)}
		w.cut[link] = !w.cut[link]
	case at < 86 && m.up:
		m.up = false // kill -9: what was acknowledged is on the disk
	case at < 93 && !m.up:
		m.start()
	case at < 95 && m.up:
		m.offset = time.Duration(w.rand.Int64N(int64(2*skew))) - skew
		m.mend()
	case at < 97 && m.up:
		m.backup = &backup{m.stored, m.synced}
	case at < 98 && w.whole:
		m.restore()
		w.whole = false
	case at < 99:
		w.heal()
		if w.rand.IntN(2) == 0 {
			w.awayForLong(m)
		}
	}
}

// heal ends all that is wrong, and lets an hour pass.
func (w *world) heal() {
	w.cut = make(map[[2]int]bool)
	for _, m := range w.nodes {
		if !m.up {
			m.start()
		}
	}
	for range 12 {
		w.now = w.now.Add(5 * time.Minute)
		w.round(true)
		w.begin()
	}
	w.whole = true
}

// begin ends the joining of the nodes where all of them are joining: none has a peer that it could wait for.
func (w *world) begin() {
	if !slices.ContainsFunc(w.nodes, func(m *member) bool { return !m.table.Joining() }) {
		for _, m := range w.nodes {
			var offers []replica.Offer
			for _, other := range w.nodes {
				if other != m {
					offers = append(offers, other.table.Page(0, everything))
				}
			}
			merged := m.table.Begin(offers)
			m.save()
			m.audit(merged.Lost...)
			m.audit(merged.Dropped...)
			w.lost(merged.Dropped)
		}
	}
}

// order compares two versions of an object, as the manual says.
func order(a, b replica.Object) int {
	if c := a.Version.Compare(b.Version); c != 0 {
		return c
	}
	if a.Deleted != b.Deleted {
		if a.Deleted {
			return 1
		}
		return -1
	}
	return cmp.Or(bytes.Compare(a.Value, b.Value))
}

// live returns the objects that are served. Tombstones may differ for as long as clocks are apart.
func (m *member) live() []replica.Object {
	return slices.DeleteFunc(m.table.All(), func(o replica.Object) bool { return o.Deleted })
}

// judge compares what nodes hold in the end with the latest decisions.
func (w *world) judge() {
	latest := make(map[replica.Key]replica.Object)
	for _, a := range w.acked {
		if before, there := latest[a.Key]; !there || order(a, before) > 0 {
			latest[a.Key] = a
		}
	}
	for _, m := range w.nodes {
		if a, b := m.live(), w.nodes[0].live(); !slices.EqualFunc(a, b, func(a, b replica.Object) bool {
			return a.Key == b.Key && order(a, b) == 0
		}) {
			w.t.Errorf("%s has %+v, %s %+v", m.name(), a, w.nodes[0].name(), b)
		}
		for key, want := range latest {
			got, there := m.table.Get(key)
			if want.Deleted != (!there || got.Deleted) || !want.Deleted && order(got, want) != 0 {
				w.t.Errorf("%s has %+v, the latest decision is %+v", m.name(), got, want)
			}
		}
		for _, o := range m.table.All() {
			if _, decided := latest[o.Key]; !decided && !o.Deleted {
				w.t.Errorf("%s has %+v, which nobody decided", m.name(), o)
			}
		}
	}
}

// judgeAudit looks for each decision on the node that was asked for it, or in the audit log there. Deletions are
// forgotten with time.
func (w *world) judgeAudit() {
	for _, d := range w.told {
		got, _ := d.by.table.Get(d.Key)
		forgotten := d.Deleted && w.now.Sub(d.Version.At()) > retention-2*skew
		if d.disk == d.by.disks && !forgotten && id(got) != id(d.Object) && !d.by.audited[id(d.Object)] {
			w.t.Errorf("%s has %+v instead of %+v, and its audit log does not say so", d.by.name(), got, d.Object)
		}
	}
}

func TestSimulation_AfterHealingAllNodesHoldTheLatestDecisions(t *testing.T) {
	for seed := range histories(t) {
		r := rand.New(rand.NewPCG(seed, 20))
		w := &world{t: t, rand: r, now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), cut: make(map[[2]int]bool)}
		for id := range 3 + r.IntN(3) {
			m := &member{world: w, id: id, audited: make(map[string]bool), offset: time.Duration(r.Int64N(int64(2*skew))) - skew}
			w.nodes = append(w.nodes, m)
			m.start()
		}
		w.begin()
		for range 120 {
			w.step()
		}
		w.heal()
		w.judge()
		w.judgeAudit()
		if t.Failed() {
			for _, line := range w.story {
				t.Log(line)
			}
			t.Fatalf("history %d", seed)
		}
	}
}
