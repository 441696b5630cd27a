package replica_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"gslb.internal/overwatch/internal/state/replica"
)

// The seed of each history is the seed of the previous history plus one.
var (
	histories = flag.Uint64("histories", 100, "number of random histories")
	firstSeed = flag.Uint64("seed", 0, "seed of the first history")
)

const (
	retention = 6 * time.Hour
	skew      = 2 * time.Minute // maximum error of a correct clock
	names     = 8
)

// world is a cluster in virtual time.
type world struct {
	t     *testing.T
	rand  *rand.Rand
	nodes []*member
	cut   map[[2]int]bool
	acked []replica.Object // confirmed decisions that at least one disk contains
	told  []decision
	value int
	whole bool // no disk was lost since all nodes had equal objects, so one may be lost
	wrong bool // clocks are wrong at times
	story []string
	causes
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
	marks   *replica.Marks
	met     time.Time // real time at which synced was last stored
	knows   knowledge
	backup  *backup
	fetched map[int][2]uint64 // start and number of the last change, by node
	disks   int
	audited map[int]bool // replaced decisions, by number
}

// decision is an object that a node has confirmed to an operator, and the disk that stored it.
type decision struct {
	replica.Object
	by   *member
	disk int
	at   time.Time // real time
}

type backup struct {
	stored []replica.Object
	synced time.Time
	marks  *replica.Marks
	met    time.Time
	knows  knowledge
}

func (w *world) tell(format string, args ...any) {
	w.story = append(w.story, time.Now().Format("15:04:05 ")+fmt.Sprintf(format, args...))
}

func (m *member) name() string { return "node-" + strconv.Itoa(m.id) }

func (m *member) clock() time.Time { return time.Now().Add(m.offset) }

// start opens the state of the disk.
func (m *member) start() {
	m.up, m.fetched = true, make(map[int][2]uint64)
	m.starts++
	var err error
	m.table, err = replica.New(replica.Options{NodeID: m.name(), Retention: retention, Objects: m.stored,
		Synced: m.synced, Now: m.clock, Marks: m.marks})
	if err != nil {
		m.t.Fatal(err)
	}
	m.tend()
}

// reaches reports whether two nodes can exchange messages.
func (m *member) reaches(other *member) bool {
	return m != other && m.up && other.up && !m.cut[[2]int{min(m.id, other.id), max(m.id, other.id)}]
}

// tend lowers versions, like a node every minute.
func (m *member) tend() {
	peers := replica.PeersSilent
	if slices.ContainsFunc(m.nodes, m.reaches) {
		peers = replica.PeersAnswer
	}
	m.table.SetPeers(peers)
	before := m.stored
	mended := m.table.Mend()
	for _, o := range before {
		for _, now := range mended {
			if now.Key == o.Key {
				m.rename(o, now)
				m.tell("%s lowers %s %s to %s", m.name(), o.Name, o.Version, now.Version)
			}
		}
	}
	m.acked = append(m.acked, mended...)
	m.save()
	if len(mended) > 0 {
		m.lost(before)
	}
}

// audit records that decisions were replaced.
func (m *member) audit(gone ...replica.Object) {
	for _, o := range gone {
		m.audited[m.number(o)] = true
	}
}

// save writes all state to the disk.
func (m *member) save() {
	m.table.Collect(nil)
	marks := m.table.Marks()
	if synced := m.table.Synced(); !synced.Equal(m.synced) {
		m.met = time.Now()
	}
	m.stored, m.synced, m.marks = m.table.All(), m.table.Synced(), &marks
}

// lost removes the confirmed decisions of a lost disk, unless another disk contains the decision or a later one.
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
		m.value++
		o = m.table.Put(key, json.RawMessage(strconv.Itoa(m.value)))
	}
	m.decide(o)
	m.save()
	m.audit(before) // as the entry of the change says
	m.acked = append(m.acked, o)
	m.told = append(m.told, decision{o, m, m.disks, time.Now()})
	m.tell("%s: %s %s deleted=%t %s", m.name(), key.Name, o.Version, o.Deleted, o.Value)
}

// ask makes a node receive the changes of another node, or all its objects. Both nodes compare their clocks.
func (m *member) ask(other *member, whole bool) {
	if !m.reaches(other) {
		return
	}
	since := uint64(0)
	if had := m.fetched[other.id]; had[0] == uint64(other.starts) && !whole && !m.table.Joining() {
		since = had[1]
	}
	limit := m.table.Limit()
	other.table.Agree(m.clock())
	offer := other.table.Page(since, everything)
	if v, unmarked := other.table.Unmarked(&offer, limit); unmarked {
		other.table.MarkStored(v)
		other.save()
		offer = other.table.Page(since, everything)
	}
	if m.wrong && m.rand.IntN(20) == 0 {
		return // the answer is lost
	}
	m.table.Agree(other.clock())
	offer.Limit = limit
	merged := m.table.Merge(offer)
	if !offer.Joining && m.table.Digest() == other.table.Digest() {
		m.table.Met()
	}
	if len(merged.Refused)+len(merged.Postponed) == 0 {
		m.fetched[other.id] = [2]uint64{uint64(other.starts), offer.Changes}
	}
	m.renamed(merged.Taken)
	m.overtake(merged.Taken)
	m.learn(offer.Objects, append(merged.Refused, merged.Postponed...))
	away := time.Since(m.met)
	if len(merged.Dropped) > 0 && !m.met.IsZero() && away < retention-2*replica.MaxAhead-2*skew {
		m.t.Errorf("%s drops %+v after %s", m.name(), merged.Dropped, away)
	}
	m.save()
	m.audit(merged.Lost...)
	m.audit(merged.Dropped...)
	m.lost(merged.Dropped)
	m.forget(live(merged.Dropped))
	if len(merged.Taken)+len(merged.Dropped)+len(merged.Refused)+len(merged.Postponed) > 0 {
		m.tell("%s takes %d of %s, drops %d, refuses %d, postpones %d", m.name(), len(merged.Taken), other.name(),
			len(merged.Dropped), len(merged.Refused), len(merged.Postponed))
	}
}

// round makes every node request the changes of every other node.
func (w *world) round(whole bool) {
	for _, i := range w.rand.Perm(len(w.nodes)) {
		for _, j := range w.rand.Perm(len(w.nodes)) {
			w.nodes[i].ask(w.nodes[j], whole)
		}
	}
}

// restore replaces the disk with a backup or an empty disk.
func (m *member) restore() {
	before := m.stored
	m.stored, m.synced, m.marks, m.met, m.knows = nil, time.Time{}, nil, time.Time{}, knowledge{}
	m.disks++
	if b := m.backup; b != nil {
		m.stored, m.synced, m.marks, m.met, m.knows = b.stored, b.synced, b.marks, b.met, b.knows.clone()
	}
	m.lost(before)
	m.forget(before)
	m.tell("%s has a disk of %d objects", m.name(), len(m.stored))
	m.start()
}

// awayForLong stops a node while the others continue for longer than tombstones are stored.
func (w *world) awayForLong(m *member) {
	w.tell("%s is away for long", m.name())
	m.up = false
	w.cut = make(map[[2]int]bool)
	for range 9 {
		time.Sleep(retention / 6)
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
	time.Sleep(time.Duration(w.rand.IntN(int(3 * time.Minute))))
	for _, m := range w.nodes {
		if m.up {
			m.tend()
		}
	}
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
	case at < 92 && !m.up:
		m.start()
	case at < 93 && w.wrong:
		m.setClock(w.wrongOffset())
	case at < 94 && w.wrong:
		m.glitch(other)
	case at < 95:
		m.setClock(w.rightOffset())
	case at < 97 && m.up && !m.synced.IsZero() && !m.holdsWrongVersions():
		m.backup = &backup{m.stored, m.synced, m.marks, m.met, m.knows.clone()}
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

// rightOffset returns the offset of a correct clock.
func (w *world) rightOffset() time.Duration {
	return time.Duration(w.rand.Int64N(int64(2*skew))) - skew
}

// wrongOffset returns the offset of a wrong clock: minutes to 400 days, ahead or behind.
func (w *world) wrongOffset() time.Duration {
	scales := []time.Duration{10 * time.Minute, 2 * time.Hour, 48 * time.Hour, 40 * 24 * time.Hour, 400 * 24 * time.Hour}
	scale := int64(scales[w.rand.IntN(len(scales))])
	return time.Duration(w.rand.Int64N(2*scale) - scale)
}

// holdsWrongVersions reports whether a node will lower versions when its clock is correct. Its backup would restore the
// decisions of that time, see docs/replication.md.
func (m *member) holdsWrongVersions() bool {
	return m.marks.Behind != (replica.Version{}) || slices.ContainsFunc(m.stored, func(o replica.Object) bool {
		return o.Version.Node == m.name() && time.Until(o.Version.At()) > replica.MaxAhead &&
			o.Version.Compare(m.marks.Stored) > 0
	})
}

// setClock sets the clock of a running node or of a node that starts later.
func (m *member) setClock(offset time.Duration) {
	m.offset = offset
	m.tell("the clock of %s is off by %s", m.name(), offset)
}

// glitch sets the clock of a node to a wrong time for some seconds, with or without a restart at both ends.
func (m *member) glitch(other *member) {
	right := m.offset
	for _, offset := range []time.Duration{m.wrongOffset(), right} {
		m.setClock(offset)
		if m.rand.IntN(2) == 0 {
			m.start()
		}
		time.Sleep(time.Duration(m.rand.IntN(int(10 * time.Second))))
		if m.up && m.rand.IntN(2) == 0 {
			m.change()
		}
		if m.rand.IntN(2) == 0 {
			m.ask(other, false)
			other.ask(m, false)
		}
	}
}

// heal ends all faults, and lets an hour pass.
func (w *world) heal() {
	w.tell("all is well")
	w.cut = make(map[[2]int]bool)
	for _, m := range w.nodes {
		m.offset = w.rightOffset()
		if !m.up {
			m.start()
		}
	}
	for range 12 {
		time.Sleep(5 * time.Minute)
		w.round(true)
		for _, m := range w.nodes {
			m.tend()
		}
		w.begin()
	}
	w.whole = true
}

// begin ends the joining of the nodes if all of them are joining: no node has a peer that it could wait for.
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
			m.overtake(merged.Taken)
			for _, offer := range offers {
				m.learn(offer.Objects, nil)
			}
			m.save()
			m.audit(merged.Lost...)
			m.audit(merged.Dropped...)
			w.lost(merged.Dropped)
			w.forget(live(merged.Dropped))
		}
	}
}

// order compares two versions of an object by the rule of the manual.
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

// live returns the served objects. Tombstones may differ while clocks differ.
func (m *member) live() []replica.Object { return live(m.table.All()) }

func live(objects []replica.Object) []replica.Object {
	return slices.DeleteFunc(slices.Clone(objects), func(o replica.Object) bool { return o.Deleted })
}

// judge compares the final objects of the nodes with the latest decisions.
func (w *world) judge() {
	for _, m := range w.nodes {
		if a, b := m.live(), w.nodes[0].live(); !slices.EqualFunc(a, b, func(a, b replica.Object) bool {
			return a.Key == b.Key && order(a, b) == 0
		}) {
			w.t.Errorf("%s has %+v, %s %+v", m.name(), a, w.nodes[0].name(), b)
		}
		w.judgeCauses(m)
	}
	if !w.wrong {
		w.judgeLatest()
	}
}

// judgeLatest expects the decision with the latest version. With wrong clocks, another decision may have the latest
// version if the nodes did not know each other's decisions.
func (w *world) judgeLatest() {
	latest := make(map[replica.Key]replica.Object)
	for _, a := range w.acked {
		if before, there := latest[a.Key]; !there || order(a, before) > 0 {
			latest[a.Key] = a
		}
	}
	for _, m := range w.nodes {
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

// judgeAudit searches for each decision on the node that received it, or in the audit log of this node. Deletions are
// removed after some time.
func (w *world) judgeAudit() {
	for _, d := range w.told {
		got, _ := d.by.table.Get(d.Key)
		made := d.at
		if d.Version.At().Before(made) {
			made = d.Version.At()
		}
		forgotten := d.Deleted && time.Since(made) > retention-2*replica.MaxAhead
		if d.disk == d.by.disks && !forgotten && w.number(got) != w.number(d.Object) && !d.by.audited[w.number(d.Object)] {
			w.t.Errorf("%s has %+v instead of %+v, and its audit log does not say so", d.by.name(), got, d.Object)
		}
	}
}

func TestSimulation_AfterHealingAllNodesHoldTheLatestDecisions(t *testing.T) {
	count, first := *histories, *firstSeed
	for seed := range count {
		synctest.Test(t, func(t *testing.T) { history(t, first+seed) })
		if t.Failed() {
			return
		}
	}
}

func history(t *testing.T, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 20))
	w := &world{t: t, rand: r, cut: make(map[[2]int]bool), wrong: seed%4 != 0,
		causes: causes{numbers: make(map[string]int)}}
	for id := range 3 + r.IntN(3) {
		m := &member{world: w, id: id, audited: make(map[int]bool), offset: w.rightOffset(), knows: knowledge{}}
		if w.wrong && r.IntN(3) == 0 {
			m.setClock(w.wrongOffset())
		}
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
