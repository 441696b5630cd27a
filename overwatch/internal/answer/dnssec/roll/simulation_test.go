package roll_test

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"gslb.internal/overwatch/internal/answer/dnssec/roll"
)

var histories = flag.Int("rolls", 200, "how many histories of rolls are simulated")

// tick is the interval at which the nodes ask one another and the parent.
const tick = 5 * time.Minute

// key is a signing key of the simulated zone. Keys of one algorithm begin with the same letter.
type key struct {
	public  string // "A1": algorithm A
	created time.Time
}

// node is one of the equal nodes: its keys, what it remembers, and whether it answers.
type node struct {
	name      string
	ahead     time.Duration // of its clock
	keys      []key
	withdrawn map[string]bool
	progress  *roll.Progress
	way       *roll.Progress
	up        bool
	asks      bool // it was restored, and asks before it answers
	backup    *node
	cut       map[*node]bool
	wait      roll.Wait
	wayWait   roll.Wait
}

func (n *node) has(public string) bool {
	return slices.ContainsFunc(n.keys, func(k key) bool { return k.public == public })
}

// served is an RRset as a resolver keeps it: what is in it, who signed it, and when it was sent last.
type served struct {
	content, signers string // joined by blanks
	at               time.Time
}

// world is a zone with its nodes, its parent, and all that a resolver may still hold.
type world struct {
	t        *testing.T
	rng      *rand.Rand
	now      time.Time
	ttl      roll.TTLs
	nodes    []*node
	parent   []string // DS sets by server
	lagged   string   // what the second server is to have
	lagEnds  time.Time
	wentBack int           // how often it had that again
	before   string        // the DS set that the parent had before the last
	silent   time.Time     // until then no server of the parent answers
	polls    time.Duration // how often the parent looks for CDS
	polled   time.Time
	lag      time.Duration
	made     int
	ds       []served // caches
	dnskey   []served
	chains   []served // those of dnskey that a DS record was there for
	answers  []served
	story    []string
}

func (w *world) tell(format string, args ...any) {
	w.story = append(w.story, w.now.Format("02 15:04 ")+fmt.Sprintf(format, args...))
}

func (w *world) fail(format string, args ...any) {
	w.t.Helper()
	w.t.Fatalf("%s\n%s", fmt.Sprintf(format, args...), strings.Join(w.story[max(0, len(w.story)-60):], "\n"))
}

func newWorld(t *testing.T, seed uint64) *world {
	rng := rand.New(rand.NewPCG(seed, 26))
	pick := func(d ...time.Duration) time.Duration { return d[rng.IntN(len(d))] }
	w := &world{t: t, rng: rng, now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	w.ttl = roll.TTLs{Margin: 5 * time.Minute, DNSKEY: time.Hour,
		Answers: pick(time.Minute, time.Hour, 24*time.Hour), DS: pick(5*time.Minute, time.Hour, 24*time.Hour)}
	w.polls, w.lag = pick(tick, time.Hour, 12*time.Hour), pick(0, time.Hour, 6*time.Hour)
	first := w.key("A")
	for i := range 3 {
		w.nodes = append(w.nodes, &node{name: fmt.Sprintf("n%d", i+1), up: true, keys: []key{first},
			ahead: time.Duration(rng.Int64N(int64(4 * time.Minute))), withdrawn: map[string]bool{}, cut: map[*node]bool{}})
	}
	w.parent = []string{first.public, first.public}
	w.lagged = first.public
	w.story = append(w.story, fmt.Sprintf("seed %d, TTLs %+v, the parent looks every %s and lags %s", seed, w.ttl, w.polls,
		w.lag))
	return w
}

func (w *world) key(algorithm string) key {
	w.made++
	return key{fmt.Sprintf("%s%d", algorithm, w.made), w.now}
}

func (n *node) published() (all [][]byte) {
	if n.way.Unsigned() {
		return nil
	}
	for _, k := range n.keys {
		if n.progress == nil || n.progress.Publishes([]byte(k.public), k.created) {
			all = append(all, []byte(k.public))
		}
	}
	return all
}

func (n *node) offered() (all [][]byte) {
	for _, k := range n.keys {
		if n.progress == nil || n.progress.Offers([]byte(k.public), k.created) {
			all = append(all, []byte(k.public))
		}
	}
	return all
}

func (n *node) signing() (all [][]byte) {
	if n.way.Unsigned() {
		return nil
	}
	for _, k := range n.keys {
		if n.progress == nil || n.progress.Signs([]byte(k.public), k.created) {
			all = append(all, []byte(k.public))
		}
	}
	return all
}

func joined(keys [][]byte) string {
	return string(bytes.Join(slices.SortedFunc(slices.Values(keys), bytes.Compare), []byte(" ")))
}

// begin tells a node to roll to a key, new or old.
func (w *world) begin(n *node, to key, emergency bool) {
	now := w.now.Add(n.ahead)
	r := roll.Roll{Target: []byte(to.public), Started: now, By: n.name, Emergency: emergency}
	published, offered := n.published(), n.offered()
	for _, public := range published {
		r.Algorithm = r.Algorithm || public[0] != to.public[0]
	}
	if !n.has(to.public) {
		n.keys = append(n.keys, key{to.public, now})
	}
	n.progress = roll.Begin(r, published, offered, now)
	w.tell("%s rolls to %s: %+v", n.name, to.public, r)
}

// ask lets a node hear the others, and take the step that it may take.
func (w *world) ask(n *node) {
	now := w.now.Add(n.ahead)
	var peers, ways []roll.Peer
	var heard []*node
	for _, p := range w.nodes {
		if p == n {
			continue
		}
		peer, way := roll.Peer{Name: p.name}, roll.Peer{Name: p.name}
		if !p.up || p.asks || n.cut[p] {
			peer.Why, way.Why = "it does not answer", "it does not answer"
		} else {
			heard = append(heard, p)
			peer.Progress, way.Progress = p.progress, p.way
		}
		peers, ways = append(peers, peer), append(ways, way)
	}
	if len(heard) > 0 {
		n.asks = false
	}
	if adopted := roll.Adopt(n.progress, peers, now); adopted != nil {
		w.tell("%s joins the roll to %s at %s", n.name, adopted.Target, adopted.Stage)
		n.progress = adopted
	}
	if adopted := roll.Adopt(n.way, ways, now); adopted != nil {
		w.tell("%s joins the way to be %s at %s", n.name, adopted.Way, adopted.Stage)
		n.way = adopted
	}
	for _, p := range heard {
		for _, k := range p.keys {
			if !n.has(k.public) && (!n.withdrawn[k.public] || (n.progress != nil && string(n.progress.Target) == k.public)) {
				n.keys = append(n.keys, k)
			}
		}
	}
	if n.asks {
		return
	}
	w.askWay(n, ways)
	if n.progress != nil && !n.way.Unsigned() {
		wrong := w.wrong(n)
		n.progress.NoteParent(wrong == "", now, now)
		next, wait := roll.Next(n.progress, peers, wrong, w.ttl, now)
		n.wait = wait
		if next != nil {
			n.progress = next
			w.tell("%s is at %s of %s", n.name, next.Stage, next.Target)
		}
	}
	for _, k := range slices.Clone(n.keys) {
		if n.progress != nil && n.progress.Ends([]byte(k.public), k.created) {
			n.keys = slices.DeleteFunc(n.keys, func(o key) bool { return o.public == k.public })
			n.withdrawn[k.public] = true
		}
	}
}

func (w *world) wrong(n *node) string {
	if w.now.Before(w.silent) {
		return "no server of the parent answers"
	}
	for i, ds := range w.parent {
		if ds != string(n.progress.Target) {
			return fmt.Sprintf("server %d of the parent has %s", i, ds)
		}
	}
	return ""
}

// look lets the parent ask a node for CDS records, and its second server follow.
func (w *world) look() {
	if !w.now.Before(w.lagEnds) {
		w.parent[1] = w.lagged
	}
	if w.now.Sub(w.polled) < w.polls {
		return
	}
	w.polled = w.now
	n := w.nodes[w.rng.IntN(len(w.nodes))]
	if !n.up || n.asks || n.way.WithholdsDS() && !n.way.AsksNoDS() {
		return
	}
	cds := joined(n.offered())
	if n.way.AsksNoDS() {
		cds = ""
	}
	if cds != w.parent[0] {
		w.before = w.parent[0]
		w.parent[0], w.lagged, w.lagEnds = cds, cds, w.now.Add(w.lag)
		w.tell("the parent takes %q from %s", cds, n.name)
	}
}

// serve notes what all send now, and holds each combination that a resolver may have against the others.
func (w *world) serve() {
	w.ds = slices.DeleteFunc(w.ds, func(o served) bool { return w.now.Sub(o.at) > w.ttl.DS })
	for _, ds := range w.parent {
		if !w.now.Before(w.silent) {
			w.ds = note(w.ds, served{ds, "", w.now}, w.ttl.DS)
		}
	}
	w.chains = slices.DeleteFunc(w.chains, func(o served) bool { return w.now.Sub(o.at) > w.ttl.DNSKEY })
	trusts := slices.ContainsFunc(w.ds, func(ds served) bool { return ds.content != "" })
	for _, n := range w.nodes {
		if n.up && !n.asks {
			keys := served{joined(n.published()), joined(n.signing()), w.now}
			w.dnskey = note(w.dnskey, keys, w.ttl.DNSKEY)
			if trusts {
				w.chains = note(w.chains, keys, w.ttl.DNSKEY)
			}
			w.answers = note(w.answers, served{"", joined(n.signing()), w.now}, w.ttl.Answers)
		}
	}
	for _, ds := range w.ds {
		for _, keys := range w.dnskey {
			if ds.content != "" && !holds(ds.content, keys.content, keys.signers) {
				w.fail("DS %s, DNSKEY %s signed by %s: bogus", ds.content, keys.content, keys.signers)
			}
		}
	}
	for _, keys := range w.chains {
		for _, answer := range w.answers {
			if !holds(keys.content, keys.content, answer.signers) {
				w.fail("DNSKEY %s, an answer signed by %s: bogus", keys.content, answer.signers)
			}
		}
	}
}

// note keeps an RRset for its TTL.
func note(cache []served, s served, ttl time.Duration) []served {
	cache = slices.DeleteFunc(cache, func(o served) bool {
		return s.at.Sub(o.at) > ttl || (o.content == s.content && o.signers == s.signers)
	})
	return append(cache, s)
}

// holds reports whether an RRset that signers signed is secure for each algorithm that a resolver trusts, by one of
// the keys that are published. That is stricter than RFC 6840 section 5.11 asks of a validator.
func holds(trusted, published, signers string) bool {
	all := strings.Fields(trusted)
	if len(all) == 0 {
		return false
	}
	for _, t := range all {
		if !slices.ContainsFunc(all, func(k string) bool {
			return k[0] == t[0] && slices.Contains(strings.Fields(published), k) && slices.Contains(strings.Fields(signers), k)
		}) {
			return false
		}
	}
	return true
}

// goBack gives the parent the DS set from before, as a backup does, until it looks for CDS records again. It does so
// only where a signer can help: no resolver holds keys that are none of that set, all nodes publish those keys and sign
// with them, and none has seen that the parent needs them no longer.
func (w *world) goBack() {
	for _, key := range strings.Fields(w.before) {
		for _, n := range w.nodes {
			has := func(all [][]byte) bool {
				return slices.ContainsFunc(all, func(public []byte) bool { return string(public) == key })
			}
			if !n.up || n.asks || n.progress == nil || !n.progress.ParentSince.IsZero() || n.progress.Stage > roll.Offered ||
				n.way.Unsigned() || n.way != nil && !n.way.ParentSince.IsZero() || !has(n.published()) || !has(n.signing()) {
				return
			}
		}
	}
	without := func(keys served) bool { return !holds(w.before, keys.content, keys.signers) }
	unsigned := func(answer served) bool { return answer.signers == "" }
	if w.before != w.parent[0] && !slices.ContainsFunc(w.dnskey, without) && !slices.ContainsFunc(w.answers, unsigned) {
		w.parent[0], w.parent[1], w.lagged, w.polled = w.before, w.before, w.before, w.now
		w.wentBack++
		w.tell("the parent goes back to %s", w.before)
	}
}

// disturb lets one random disturbance happen, or none. Each call is one chance; mend ends them all.
func (w *world) disturb() {
	n := w.nodes[w.rng.IntN(len(w.nodes))]
	switch w.rng.IntN(60) {
	case 0:
		if n.up {
			n.up = false
			w.tell("%s is killed", n.name)
		} else {
			n.up = true
			for _, p := range []*roll.Progress{n.progress, n.way} {
				if p != nil {
					p.ParentSince = time.Time{}
				}
			}
			w.tell("%s is back", n.name)
		}
	case 1:
		other := w.nodes[w.rng.IntN(len(w.nodes))]
		if n != other {
			n.cut[other] = !n.cut[other]
			other.cut[n] = n.cut[other]
		}
	case 2:
		n.keep()
	case 3:
		if n.backup != nil && !slices.ContainsFunc(w.nodes, func(o *node) bool { return o.asks }) {
			n.keys, n.withdrawn, n.progress, n.way = n.backup.keys, n.backup.withdrawn, n.backup.progress, n.backup.way
			n.keep()
			n.asks = true
			w.tell("%s is restored from a backup", n.name)
		}
	case 4:
		w.goBack()
	case 5:
		w.silent = w.now.Add(time.Duration(w.rng.IntN(200)) * tick)
		w.tell("the parent is silent until %s", w.silent.Format("02 15:04"))
	}
}

// keep makes a backup of what a node has.
func (n *node) keep() {
	b := &node{keys: slices.Clone(n.keys), withdrawn: map[string]bool{}}
	for k := range n.withdrawn {
		b.withdrawn[k] = true
	}
	for from, to := range map[*roll.Progress]**roll.Progress{n.progress: &b.progress, n.way: &b.way} {
		if from != nil {
			p := *from
			p.ParentSince = time.Time{}
			*to = &p
		}
	}
	n.backup = b
}

// mend ends all disturbance.
func (w *world) mend() {
	for _, n := range w.nodes {
		n.up = true
		clear(n.cut)
	}
}

func (w *world) step(disturbed bool) {
	if disturbed {
		w.disturb()
	}
	w.look()
	for _, n := range w.nodes {
		if n.up {
			w.ask(n)
			w.serve()
		}
	}
	w.now = w.now.Add(tick)
}

// done reports whether all nodes have ended the latest roll and publish its key alone.
func (w *world) done() bool {
	first := w.nodes[0]
	for _, n := range w.nodes {
		if n.progress == nil || n.progress.Stage != roll.Done || joined(n.published()) != joined(first.published()) ||
			joined(n.published()) != string(n.progress.Target) {
			return false
		}
	}
	return true
}

// A validator that keeps each record for its whole TTL finds every answer of every node secure, at every moment of
// rolls that are plain, change the algorithm, are urgent, are taken back at any stage, or meet one another; while
// nodes are killed, cut off and restored, and the parent's servers differ, fall silent, or go back to what they had.
// Each history ends with one key.
func TestRoll_NoAnswerIsEverBogus(t *testing.T) {
	count := *histories
	if testing.Short() { // with the race detector; all of them follow without
		count /= 5
	}
	wentBack := 0
	for seed := range uint64(count) {
		w := newWorld(t, seed)
		w.step(false)
		for range 1 + w.rng.IntN(3) {
			n := w.nodes[w.rng.IntN(len(w.nodes))]
			if !n.up || n.asks {
				continue
			}
			emergency := w.rng.IntN(4) == 0
			switch old := n.keys[w.rng.IntN(len(n.keys))]; w.rng.IntN(4) {
			case 0:
				w.begin(n, w.key("B"), emergency)
			case 1:
				w.begin(n, old, emergency) // one is taken back, or nothing is to do
			default:
				w.begin(n, w.key(old.public[:1]), emergency)
			}
			for range w.rng.IntN(2000) {
				w.step(true)
			}
		}
		w.end()
		wentBack += w.wentBack
	}
	if t.Logf("the parent went back %d times", wentBack); wentBack == 0 {
		t.Error("no parent went back to an old DS set")
	}
}
