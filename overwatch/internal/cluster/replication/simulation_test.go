package replication_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gslb.internal/overwatch/internal/state/replica"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/model"
)

const (
	simulatedNames     = 6
	simulatedSkew      = 2 * time.Minute // maximum error of a correct clock
	simulatedRetention = 30 * time.Minute
)

// The seed of each history is the seed of the previous history plus one.
var (
	histories = flag.Uint64("histories", 3, "number of random histories")
	firstSeed = flag.Uint64("seed", 0, "seed of the first history")
)

// world is a cluster in virtual time: nodes with their stores, and a network with an attacker.
type world struct {
	t       *testing.T
	rand    *rand.Rand
	chance  *rand.Rand // network.mu
	network *network
	members []*member
	cut     map[[2]string]bool   // one way
	astray  map[[2]string]string // requests from one node to another reach a third node, or the sender
	wrong   bool                 // clocks are wrong at times
	ill     bool                 // the network loses, delays, repeats and swaps answers and requests
	seen    []*http.Request      // with proofs, which were answered
	answers []recorded           // recorded by the attacker
	decided []decision
	made    int
	story   []string
	began   time.Time
}

// member is one node: what runs, and its disk.
type member struct {
	*world
	id     string
	offset atomic.Int64 // of its clock
	run    *node        // nil: down
	dir    string
	disks  int    // number of replaced disks
	crash  string // copy of the disk after a change was stored and before it was applied
}

// decision is an object that a node has confirmed to an operator as stored.
type decision struct {
	replica.Object
	by      *member
	disk    int
	retired bool         // by an operator there
	past    map[int]bool // the decisions on the same object that it replaced knowingly
}

func (w *world) tell(format string, args ...any) {
	w.story = append(w.story, time.Since(w.began).String()+" "+fmt.Sprintf(format, args...))
}

// wire carries the requests of one node.
type wire struct {
	*world
	from string
}

// RoundTrip implements http.RoundTripper.
func (x wire) RoundTrip(r *http.Request) (*http.Response, error) {
	x.network.mu.Lock()
	to := cmp.Or(x.astray[[2]string{x.from, r.URL.Host}], r.URL.Host)
	lost, late, other := x.cut[[2]string{x.from, r.URL.Host}], time.Duration(0), (*recorded)(nil)
	if x.ill {
		lost = lost || x.chance.IntN(8) == 0
		late = time.Duration(x.chance.Int64N(int64(3 * time.Second)))
		if x.chance.IntN(8) == 0 && len(x.answers) > 0 {
			other = &x.answers[x.chance.IntN(len(x.answers))]
		}
	}
	x.network.mu.Unlock()
	if lost {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	time.Sleep(late) // virtual
	r = r.Clone(r.Context())
	r.URL.Host, to = to, r.URL.Host
	resp, err := x.network.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(resp.Body)
	x.network.mu.Lock()
	defer x.network.mu.Unlock()
	if r.Header.Get("Authorization") != "" && resp.StatusCode == http.StatusOK && len(x.seen) < 100 {
		x.seen = append(x.seen, r.Clone(x.t.Context()))
	}
	if x.cut[[2]string{to, x.from}] {
		return nil, errors.New("cut")
	}
	if x.ill && x.chance.IntN(8) == 0 {
		text = text[:x.chance.IntN(len(text)+1)]
	}
	if len(x.answers) < 100 {
		x.answers = append(x.answers, recorded{resp, text})
	}
	if other != nil {
		return again(other.Response, other.text), nil
	}
	return again(resp, text), err
}

// recorded is an answer.
type recorded struct {
	*http.Response
	text []byte
}

// again returns an answer with a body.
func again(resp *http.Response, body []byte) *http.Response {
	one := *resp
	one.Body = io.NopCloser(bytes.NewReader(body))
	return &one
}

// start starts a node from its disk.
func (m *member) start(secret string) {
	s := settings(secret)
	s.Peers = nil
	for _, other := range m.members {
		s.Peers = append(s.Peers, "http://"+other.id)
	}
	m.run = startOn(m.t, m.network, m.dir, wire{m.world, m.id}, store.Options{NodeID: m.id,
		Retention: simulatedRetention, Now: m.now}, s)
}

func (m *member) now() time.Time { return time.Now().Add(time.Duration(m.offset.Load())) }

// setClock sets the clock of a running or stopped node.
func (m *member) setClock(offset time.Duration) {
	m.offset.Store(int64(offset))
	m.tell("the clock of %s is off by %s", m.id, offset)
}

// rightOffset returns the offset of a correct clock.
func (w *world) rightOffset() time.Duration {
	return time.Duration(w.rand.Int64N(int64(2*simulatedSkew))) - simulatedSkew
}

// wrongOffset returns the offset of a wrong clock: minutes to 400 days, ahead or behind.
func (w *world) wrongOffset() time.Duration {
	scales := []time.Duration{10 * time.Minute, 2 * time.Hour, 48 * time.Hour, 40 * 24 * time.Hour, 400 * 24 * time.Hour}
	scale := int64(scales[w.rand.IntN(len(scales))])
	return time.Duration(w.rand.Int64N(2*scale) - scale)
}

// glitch sets the clock of a node to a wrong time for some seconds, with or without a restart.
func (m *member) glitch() {
	right := time.Duration(m.offset.Load())
	restarted := m.rand.IntN(2) == 0
	for _, offset := range []time.Duration{m.wrongOffset(), right} {
		if restarted {
			m.kill()
		}
		m.setClock(offset)
		if restarted {
			m.start(secret)
		}
		time.Sleep(time.Duration(m.rand.Int64N(int64(4 * time.Second))))
		if m.rand.IntN(2) == 0 {
			m.change()
		}
	}
}

// kill stops a node like SIGKILL. Its disk has the state of the current moment, or of the last receipt of an object.
func (m *member) kill() {
	m.run.mu.Lock()
	m.run.entered = nil
	m.run.mu.Unlock()
	disk := m.crash
	if m.crash = ""; disk == "" {
		disk = m.copy()
	}
	m.run.stop()
	m.run, m.dir = nil, disk
	m.tell("%s is killed", m.id)
}

// copy copies the files of the disk.
func (m *member) copy() string {
	dir := m.t.TempDir()
	text, err := os.ReadFile(filepath.Join(m.dir, "gslb.db"))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "gslb.db"), text, 0o600)
	}
	if err != nil {
		m.t.Error(err)
	}
	return dir
}

// crashWhenItTakes copies the disk at the next receipt of another node's object. Until the test kills the node, no
// operator makes a decision on the node.
func (m *member) crashWhenItTakes() {
	m.run.mu.Lock()
	defer m.run.mu.Unlock()
	m.run.entered = func() {
		if m.crash == "" {
			m.crash = m.copy()
		}
	}
}

// change makes a random decision of an operator on this node.
func (m *member) change() {
	name := "d" + strconv.Itoa(m.rand.IntN(simulatedNames)) + ".example"
	key, ends := domain(name), time.Time{}
	if m.rand.IntN(2) == 0 {
		key = replica.Key{Kind: store.KindRecord, Name: model.RecordKey(name, "TXT", strconv.Itoa(m.rand.IntN(2)))}
		if m.rand.IntN(2) == 0 {
			ends = time.Now().Add(time.Duration(m.rand.Int64N(int64(2 * time.Minute))))
		}
	}
	before, there := m.run.store.Object(key)
	there = there && !before.Deleted && m.run.recorded(key)
	switch remove := there && m.rand.IntN(3) == 0; {
	case remove:
		m.run.removeObject(key)
	case key.Kind == store.KindRecord:
		m.made++
		m.run.putRecord(key, m.made, ends)
	default:
		m.made++
		m.run.put(name, strconv.Itoa(m.made))
	}
	o, _ := m.run.store.Object(key)
	past := make(map[int]bool)
	if i := m.decisionOf(&before); i >= 0 {
		m.decided[i].retired = m.decided[i].retired || m.decided[i].by == m
		past = maps.Clone(m.decided[i].past)
		past[i] = true
	}
	m.decided = append(m.decided, decision{Object: o, by: m, disk: m.disks, past: past})
	m.tell("%s: %s %s deleted=%t %s", m.id, key.Name, o.Version, o.Deleted, o.Value)
}

// decisionOf returns the number of the decision that an object contains, or -1 if it is unknown. A value belongs to one
// decision. A deletion with a lowered version is the last deletion of its node.
func (w *world) decisionOf(o *replica.Object) int {
	last := -1
	for i := range w.decided {
		d := &w.decided[i]
		switch {
		case d.Key != o.Key || d.Deleted != o.Deleted:
		case !o.Deleted && bytes.Equal(d.Value, o.Value), o.Deleted && d.Version == o.Version:
			return i
		case o.Deleted && d.by.id == o.Version.Node:
			last = i
		}
	}
	return last
}

// live returns the objects that a node serves. Nodes remove deletions and expired records at slightly different times.
func (m *member) live() []replica.Object {
	return slices.DeleteFunc(m.run.store.Objects(), func(o replica.Object) bool { return o.Deleted || isOver(&o) })
}

// isOver reports whether an object has expired according to a correct clock.
func isOver(o *replica.Object) bool {
	at := endOf(o)
	return !at.IsZero() && at.Before(time.Now())
}

// endOf returns the end of a DNS record, or zero.
func endOf(o *replica.Object) (at time.Time) {
	if o.Kind == store.KindRecord && !o.Deleted {
		if r, err := model.Decode[model.Record](o.Value); err == nil {
			at = r.ExpiresAt
		}
	}
	return at
}

// expire removes the records that have expired according to the clock of the node.
func (m *member) expire() {
	var b store.Batch
	for _, o := range m.run.store.Objects() {
		if at := endOf(&o); !at.IsZero() && !at.After(m.now()) {
			b.ExpireRecord(o.Name, at)
		}
	}
	if err := m.run.store.Write(&b); err != nil {
		m.t.Error(err)
	}
}

func equal(a, b replica.Object) bool { return same(&a, &b) && bytes.Equal(a.Value, b.Value) }

func same(a, b *replica.Object) bool {
	return a.Key == b.Key && a.Version == b.Version && a.Deleted == b.Deleted
}

func (w *world) step() {
	time.Sleep(time.Duration(w.rand.Int64N(int64(14 * time.Second))))
	synctest.Wait()
	m, other := w.members[w.rand.IntN(len(w.members))], w.members[w.rand.IntN(len(w.members))]
	if m.run != nil && m.run.entered == nil {
		m.expire()
	}
	switch at := w.rand.IntN(100); {
	case m.run == nil && at < 50:
		if w.wrong && at < 10 {
			m.setClock(w.wrongOffset())
		}
		m.start(secret)
	case m.run == nil:
	case w.wrong && at < 5:
		m.setClock(w.wrongOffset())
	case w.wrong && at < 10 && m.run.entered == nil:
		m.glitch()
	case w.wrong && at < 15:
		m.setClock(w.rightOffset())
	case at < 55 && m.run.entered == nil:
		m.change()
	case at < 75:
		w.network.mu.Lock()
		w.cut[[2]string{m.id, other.id}] = !w.cut[[2]string{m.id, other.id}]
		w.network.mu.Unlock()
	case at < 78:
		w.network.mu.Lock()
		third := w.members[w.rand.IntN(len(w.members))]
		w.astray[[2]string{m.id, other.id}] = third.id
		w.network.mu.Unlock()
	case at < 83:
		m.kill()
	case at < 90 && m.run.entered == nil:
		m.crashWhenItTakes()
	case at < 95:
		w.repeat(other)
	}
}

// repeat sends a recorded request of one node to another node.
func (w *world) repeat(to *member) {
	w.network.mu.Lock()
	var seen *http.Request
	if len(w.seen) > 0 && to.run != nil {
		seen = w.seen[w.chance.IntN(len(w.seen))].Clone(w.t.Context())
	}
	w.network.mu.Unlock()
	if seen == nil {
		return
	}
	seen.URL.Host = to.id
	if resp, err := w.network.RoundTrip(seen); err == nil && resp.StatusCode == http.StatusOK {
		w.t.Errorf("%s answers a request that was made before", to.id)
	}
}

// heal ends all faults and lets time pass: a node accepts versions of a fast clock when its own clock has reached them.
func (w *world) heal() {
	w.network.mu.Lock()
	w.cut, w.astray, w.ill = make(map[[2]string]bool), make(map[[2]string]string), false
	w.network.mu.Unlock()
	for _, m := range w.members {
		if m.run != nil && m.run.entered != nil {
			m.kill()
		}
		if m.run == nil {
			m.start(secret)
		}
	}
	if w.wrong {
		time.Sleep(4 * time.Minute)
		synctest.Wait()
		w.judgeVisible()
	}
	for _, m := range w.members {
		m.setClock(w.rightOffset())
	}
	time.Sleep(5 * time.Minute)
	synctest.Wait()
}

// judgeVisible expects a condition where connected nodes hold different objects.
func (w *world) judgeVisible() {
	for _, a := range w.members {
		for _, b := range w.members {
			said := len(a.run.r.Trouble()) + len(b.run.r.Trouble())
			if !slices.EqualFunc(a.live(), b.live(), equal) && said == 0 {
				w.t.Errorf("%s and %s hold different objects, and say nothing: %+v, %+v", a.id, b.id, a.run.store.Objects(),
					b.run.store.Objects())
			}
		}
	}
}

// judgeCauses expects that no node stores a decision that a later decision has replaced knowingly. It expects that an
// object exists if its last decisions were no deletions, and that replaced values are in the audit log.
func (w *world) judgeCauses(m *member) {
	last := make(map[replica.Key]map[int]bool)
	for i := range w.decided {
		key := w.decided[i].Key
		if last[key] == nil {
			last[key] = make(map[int]bool)
		}
		for p := range w.decided[i].past {
			delete(last[key], p)
		}
		last[key][i] = true
	}
	for key, numbers := range last {
		o, there := m.run.store.Object(key)
		held, deleted := -1, false
		if there && !o.Deleted {
			held = w.decisionOf(&o)
		}
		for i := range numbers {
			deleted = deleted || w.decided[i].Deleted || isOver(&w.decided[i].Object)
			if w.decided[i].past[held] {
				w.t.Errorf("%s has %+v, which %+v has replaced knowingly", m.id, o, w.decided[i].Object)
			}
		}
		if held < 0 && !deleted {
			w.t.Errorf("%s has no %s, the last decisions on it are no deletions", m.id, key.Name)
		}
	}
	entries, err := m.run.store.Changes().From(1, 1000)
	for i := range w.decided {
		d := &w.decided[i]
		o, there := m.run.store.Object(d.Key)
		if d.by != m || d.Deleted || d.retired || d.disk != m.disks || there && bytes.Equal(o.Value, d.Value) {
			continue
		}
		want, _ := json.Marshal(d.Value)
		if !slices.ContainsFunc(entries, func(e []byte) bool { return bytes.Equal(e, want) }) {
			w.t.Errorf("the audit log of %s does not name %+v: %q, %v", m.id, d.Object, entries, err)
		}
	}
}

// judge compares the objects of all nodes with the latest decisions, and searches the audit logs for the other
// decisions.
func (w *world) judge() {
	w.judgeTogether()
	if !w.wrong {
		w.judgeLatest()
	}
}

// judgeTogether expects that all nodes know each other and store the same objects, and that no decision is lost.
func (w *world) judgeTogether() {
	for _, m := range w.members {
		if a, b := m.live(), w.members[0].live(); !slices.EqualFunc(a, b, equal) {
			w.t.Errorf("%s has %+v, %s %+v", m.id, a, w.members[0].id, b)
		}
		if said := m.run.r.Trouble(); len(said) > 0 {
			w.t.Errorf("%s says %q", m.id, said)
		}
		w.judgeCauses(m)
		for _, p := range m.run.r.Status().Peers {
			if !p.Connected || "http://"+p.NodeID != p.Peer {
				w.t.Errorf("%s tells of a peer %+v", m.id, p)
			}
		}
		if peers := len(m.run.r.Status().Peers); peers != len(w.members)-1 {
			w.t.Errorf("%s tells of %d peers", m.id, peers)
		}
		if m.run.store.Replicas().Joining {
			w.t.Errorf("%s has not all of another", m.id)
		}
	}
}

// judgeLatest expects the decision with the latest version. With wrong clocks, another decision may have the latest
// version if the nodes did not know each other's decisions.
func (w *world) judgeLatest() {
	latest := make(map[replica.Key]*replica.Object)
	for i := range w.decided {
		o := &w.decided[i].Object
		if l := latest[o.Key]; l == nil || o.Version.Compare(l.Version) > 0 {
			latest[o.Key] = o
		}
	}
	for _, m := range w.members {
		for _, o := range m.run.store.Objects() {
			if want := latest[o.Key]; want == nil || !same(&o, want) || !bytes.Equal(o.Value, want.Value) {
				w.t.Errorf("%s has %+v, the latest decision is %+v", m.id, o, want)
			}
		}
		for key, want := range latest {
			if got, there := m.run.store.Object(key); !there && !want.Deleted && !isOver(want) {
				w.t.Errorf("%s has %+v, the latest decision is %+v", m.id, got, want)
			}
		}
	}
	for i := range w.decided {
		d := &w.decided[i]
		forgotten := d.Deleted && time.Since(d.Version.At()) > simulatedRetention-2*simulatedSkew
		alike := func(later decision) bool { // the same decision was repeated, and the repetition was replaced
			return later.Key == d.Key && later.Deleted && d.Deleted && later.Version.Compare(d.Version) > 0
		}
		if same(latest[d.Key], &d.Object) || d.retired || forgotten || d.disk != d.by.disks ||
			slices.ContainsFunc(w.decided, alike) {
			continue
		}
		entries, err := d.by.run.store.Changes().From(1, 1000)
		want, _ := json.Marshal(d.Value)
		if d.Deleted {
			want = []byte("null")
		}
		if !slices.ContainsFunc(entries, func(e []byte) bool { return bytes.Equal(e, want) }) {
			w.t.Errorf("the audit log of %s does not name %+v: %q, %v", d.by.id, d.Object, entries, err)
		}
	}
}

// rejoin replaces the disk of a node with a backup or an empty disk, or stops the node for longer than deletions are
// stored.
func (w *world) rejoin() {
	m := w.members[w.rand.IntN(len(w.members))]
	backup := m.copy()
	if w.rand.IntN(4) == 0 {
		w.pass(m)
	}
	m.kill()
	switch w.rand.IntN(6) {
	case 0, 1, 2:
		m.dir, m.disks = backup, m.disks+1
	case 3, 4:
		m.dir, m.disks = w.t.TempDir(), m.disks+1
	case 5:
		w.pass(m)
	}
	m.tell("%s comes back", m.id)
	m.start(secret)
}

// pass lets time pass until deletions are removed, while all nodes except one make a decision.
func (w *world) pass(but *member) {
	for range 4 {
		time.Sleep(simulatedRetention / 3)
		synctest.Wait()
		for _, m := range w.members {
			if m != but {
				m.change()
			}
		}
	}
	time.Sleep(2 * time.Minute)
	synctest.Wait()
}

// forger adds a node with another secret that knows all other nodes.
func (w *world) forger() {
	s := settings("another secret than that of all others")
	n := startOn(w.t, w.network, w.t.TempDir(), w.network, store.Options{NodeID: "a"}, s)
	for i := range simulatedNames {
		n.put("d"+strconv.Itoa(i)+".example", "forged")
	}
	n.put("forged.example", "")
	w.network.set("a", nil)
}

func history(t *testing.T, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 20))
	w := &world{t: t, rand: r, chance: rand.New(rand.NewPCG(seed, 21)), network: &network{nodes: make(map[string]*node)},
		cut: make(map[[2]string]bool), astray: make(map[[2]string]string), ill: r.IntN(2) == 0,
		wrong: r.IntN(3) != 0, began: time.Now()}
	w.forger()
	for i := range 3 + r.IntN(3) {
		m := &member{world: w, id: string(rune('a' + i)), dir: t.TempDir()}
		m.offset.Store(int64(w.rightOffset()))
		if w.wrong && r.IntN(3) == 0 {
			m.setClock(w.wrongOffset())
		}
		w.members = append(w.members, m)
	}
	for _, m := range w.members {
		m.start(secret)
	}
	for range 40 {
		w.step()
	}
	w.heal()
	w.judge()
	w.rejoin()
	w.heal()
	w.judge()
	if t.Failed() {
		t.Log(strings.Join(w.story, "\n"))
		t.Fatalf("-seed=%d -histories=1 repeats it", seed)
	}
}

// After the end of all faults, all nodes store the latest decision on each object. The audit log of the node that
// received a replaced decision contains it, for any faults of the network and disks, and with an attacker in the
// network.
func TestSimulation_AfterHealingAllNodesHoldTheLatestDecisions(t *testing.T) {
	count, first := *histories, *firstSeed
	if testing.Short() { // with the race detector; a run without it plays all histories
		count = (count + 2) / 3
	}
	for seed := range count {
		synctest.Test(t, func(t *testing.T) { history(t, first+seed) })
	}
}
