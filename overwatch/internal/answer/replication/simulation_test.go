package replication_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gslb.internal/overwatch/internal/state/replica"
	"gslb.internal/overwatch/internal/state/store"
)

const (
	simulatedNames     = 6
	simulatedSkew      = 4 * time.Minute
	simulatedRetention = 30 * time.Minute
)

// histories returns how many random histories the simulation makes, and the first seed.
func histories(t *testing.T) (count, seed uint64) {
	for key, to := range map[string]*uint64{"GSLB_REPLICA_HISTORIES": &count, "GSLB_REPLICA_SEED": &seed} {
		var err error
		if *to, err = strconv.ParseUint(cmp.Or(os.Getenv(key), "0"), 10, 32); err != nil {
			t.Fatalf("%s is %q: it must be a number", key, os.Getenv(key))
		}
	}
	return cmp.Or(count, 3), seed
}

// world is a cluster in virtual time: nodes with their stores, and a network with somebody in it who means ill.
type world struct {
	t       *testing.T
	rand    *rand.Rand
	chance  *rand.Rand // network.mu
	network *network
	members []*member
	cut     map[[2]string]bool   // one way
	astray  map[[2]string]string // what goes from one node to another comes to a third, or back
	ill     bool                 // answers and requests are lost, late, repeated and exchanged
	seen    []*http.Request      // with proofs, which were answered
	answers []recorded           // as who means ill has recorded them
	decided []decision
	made    int
	story   []string
	began   time.Time
}

// member is one node: what runs, and its disk.
type member struct {
	*world
	id     string
	offset time.Duration
	run    *node // nil: down
	dir    string
	disks  int    // how often it got another disk
	crash  string // a disk as of the moment in which something was stored and not yet in force
}

// decision is an object that a node has confirmed to an operator as stored.
type decision struct {
	replica.Object
	by      *member
	disk    int
	retired bool // by an operator there
}

func (w *world) tell(format string, args ...any) {
	w.story = append(w.story, time.Since(w.began).String()+" "+fmt.Sprintf(format, args...))
}

// wire carries what one node asks.
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
		Retention: simulatedRetention, Now: func() time.Time { return time.Now().Add(m.offset) }}, s)
}

// kill ends a node as kill -9 does, and leaves it the disk of a moment: now, or when something was taken last.
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

// copy copies the disk.
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

// crashWhenItTakes keeps a copy of the disk from the next time that something of another node is stored. Until the node
// is killed nobody decides anything there.
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
	before, there := m.run.store.Object(domain(name))
	if there = there && !before.Deleted; there && m.rand.IntN(3) == 0 {
		m.run.remove(name)
	} else {
		m.made++
		m.run.put(name, strconv.Itoa(m.made))
	}
	o, _ := m.run.store.Object(domain(name))
	for i := range m.decided {
		if d := &m.decided[i]; d.by == m && same(&d.Object, &before) {
			d.retired = true
		}
	}
	m.decided = append(m.decided, decision{o, m, m.disks, false})
	m.tell("%s: %s %s deleted=%t %s", m.id, name, o.Version, o.Deleted, o.Value)
}

func same(a, b *replica.Object) bool {
	return a.Key == b.Key && a.Version == b.Version && a.Deleted == b.Deleted
}

func (w *world) step() {
	time.Sleep(time.Duration(w.rand.Int64N(int64(14 * time.Second))))
	synctest.Wait()
	m, other := w.members[w.rand.IntN(len(w.members))], w.members[w.rand.IntN(len(w.members))]
	switch at := w.rand.IntN(100); {
	case m.run == nil && at < 50:
		m.start(secret)
	case m.run == nil:
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

// repeat sends a node a request of another that was seen before.
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

// heal ends all that is wrong, and lets time pass: versions of a clock ahead are taken when the own has come close.
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
	time.Sleep(2*simulatedSkew - replica.MaxAhead + 3*time.Minute)
	synctest.Wait()
}

// judge compares what all nodes hold with the latest decisions, and looks for the others in the audit logs.
func (w *world) judge() {
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
			if got, there := m.run.store.Object(key); !there && !want.Deleted {
				w.t.Errorf("%s has %+v, the latest decision is %+v", m.id, got, want)
			}
		}
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
	for i := range w.decided {
		d := &w.decided[i]
		forgotten := d.Deleted && time.Since(d.Version.At()) > simulatedRetention-2*simulatedSkew
		alike := func(later decision) bool { // the same was decided again, and that is what was overtaken
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

// rejoin gives a node the disk of a backup, or an empty one, or has it away for longer than deletions are remembered.
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

// pass lets more time pass than deletions are remembered, while all nodes but one decide something.
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

// forger adds a node with another secret, which knows all others.
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
		cut: make(map[[2]string]bool), astray: make(map[[2]string]string), ill: r.IntN(2) == 0, began: time.Now()}
	w.forger()
	for i := range 3 + r.IntN(3) {
		m := &member{world: w, id: string(rune('a' + i)), dir: t.TempDir(),
			offset: time.Duration(r.Int64N(int64(2*simulatedSkew))) - simulatedSkew}
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
		t.Fatalf("GSLB_REPLICA_SEED=%d GSLB_REPLICA_HISTORIES=1 makes the same again", seed)
	}
}

// After healing all nodes hold the latest decision on each object, and the audit log of the node that was asked names
// those that were overtaken, whatever the network and the disks did meanwhile, and whoever is in between.
func TestSimulation_AfterHealingAllNodesHoldTheLatestDecisions(t *testing.T) {
	count, first := histories(t)
	if testing.Short() { // with the race detector; all of them follow without
		count = (count + 2) / 3
	}
	for seed := range count {
		synctest.Test(t, func(t *testing.T) { history(t, first+seed) })
	}
}
