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

// tick is the interval at which the nodes query each other and the parent.
const tick = 5 * time.Minute

// key is a signing key of the simulated zone. Keys of the same algorithm begin with the same letter.
type key struct {
	public  string // "A1": algorithm A
	created time.Time
}

// node has the keys of a node, its stored state, and whether it answers.
type node struct {
	name      string
	ahead     time.Duration // advance of its clock
	keys      []key
	withdrawn map[string]bool
	progress  *roll.Progress
	way       *roll.Progress
	up        bool
	asks      bool // it was restored, and must query its peers before the first answer
	backup    *node
	cut       map[*node]bool
	wait      roll.Wait
	wayWait   roll.Wait
	ttl       roll.TTLs   // served TTLs, and the TTL at the parent
	dnskeys   roll.Served // TTLs of DNSKEY records
	answers   roll.Served
}

// serves starts a node with new TTLs.
func (n *node) serves(ttl roll.TTLs, now time.Time) {
	n.ttl = ttl
	for served, ttl := range map[*roll.Served]time.Duration{&n.dnskeys: ttl.DNSKEY, &n.answers: ttl.Answers} {
		served.Stop(now)
		served.Serve(ttl)
	}
}

// remembered returns the TTLs in caches, as known to a node.
func (n *node) remembered(now time.Time) roll.TTLs {
	ttl := n.ttl
	ttl.DNSKEY, ttl.Answers = n.dnskeys.Longest(now), n.answers.Longest(now)
	return ttl
}

// note stores the TTLs of a roll or transition on a node.
func (n *node) note(p *roll.Progress, peers []roll.Peer, now time.Time) {
	ttl := n.remembered(now)
	p.RaiseTTLs(roll.Caches{DNSKEY: ttl.DNSKEY, Answers: ttl.Answers, DS: ttl.DS}, peers)
}

func (n *node) has(public string) bool {
	return slices.ContainsFunc(n.keys, func(k key) bool { return k.public == public })
}

// served is an RRset in a cache: its content, its signers, and the end of its TTL.
type served struct {
	content, signers string // joined by blanks
	until            time.Time
}

// world is a zone with its nodes, its parent, and all records that resolvers may cache.
type world struct {
	t        *testing.T
	rng      *rand.Rand
	now      time.Time
	ttl      roll.TTLs // at the start
	nodes    []*node
	parent   []string // DS sets by server
	lagged   string   // future DS set of the second server
	lagEnds  time.Time
	wentBack int           // number of returns to an earlier DS set
	before   string        // previous DS set of the parent
	silent   time.Time     // end of an outage of the parent's servers
	polls    time.Duration // interval of the parent's queries for CDS records
	polled   time.Time
	lag      time.Duration
	made     int
	records  []served // caches of DS records
	dnskey   []served
	chains   []served // DNSKEY caches with a DS record
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
		n := &node{name: fmt.Sprintf("n%d", i+1), up: true, keys: []key{first},
			ahead: time.Duration(rng.Int64N(int64(4 * time.Minute))), withdrawn: map[string]bool{}, cut: map[*node]bool{}}
		n.serves(w.ttl, w.now)
		w.nodes = append(w.nodes, n)
	}
	w.parent = []string{first.public, first.public}
	w.lagged = first.public
	w.story = append(w.story, fmt.Sprintf("seed %d, TTLs %+v, the parent looks every %s and lags %s", seed, w.ttl, w.polls,
		w.lag))
	return w
}

// start fills the caches. In half of the histories the nodes then restart with low TTLs.
func (w *world) start() {
	w.step(false)
	if w.rng.IntN(2) > 0 {
		return
	}
	for _, n := range w.nodes {
		ttl := n.ttl
		ttl.DNSKEY, ttl.Answers = 10*time.Second, 10*time.Second
		n.serves(ttl, w.now.Add(n.ahead))
	}
	w.tell("all nodes start with TTLs of 10 s")
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

// begin starts a roll to a new or old key on a node.
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
	begun := roll.Begin(r, published, offered, now)
	begun.Inherit(n.progress, now)
	begun.Inherit(n.way, now)
	n.note(begun, nil, now)
	n.progress = begun
	w.tell("%s rolls to %s: %+v", n.name, to.public, r)
}

// ask queries the peers of a node, and takes the permitted step.
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
		adopted.Inherit(n.way, now)
		n.progress = adopted
	}
	if adopted := roll.Adopt(n.way, ways, now); adopted != nil {
		w.tell("%s joins the way to be %s at %s", n.name, adopted.Goal, adopted.Stage)
		adopted.Inherit(n.progress, now)
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
		n.progress.RecordParent(wrong == "", now, now)
		n.note(n.progress, peers, now)
		next, wait := roll.Next(n.progress, peers, wrong, n.remembered(now), now)
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

// look queries a node for CDS records as the parent, and updates the parent's second server.
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

// serve adds the current records of all nodes to the caches, and checks each combination that a resolver may have.
func (w *world) serve() {
	w.records = w.unexpired(w.records)
	for _, ds := range w.parent {
		if !w.now.Before(w.silent) {
			w.records = w.note(w.records, served{ds, "", w.now.Add(w.ttl.DS)})
		}
	}
	w.dnskey, w.chains, w.answers = w.unexpired(w.dnskey), w.unexpired(w.chains), w.unexpired(w.answers)
	trusts := slices.ContainsFunc(w.records, func(ds served) bool { return ds.content != "" })
	for _, n := range w.nodes {
		if n.up && !n.asks {
			keys := served{joined(n.published()), joined(n.signing()), w.now.Add(n.ttl.DNSKEY)}
			w.dnskey = w.note(w.dnskey, keys)
			if trusts {
				w.chains = w.note(w.chains, keys)
			}
			w.answers = w.note(w.answers, served{"", joined(n.signing()), w.now.Add(n.ttl.Answers)})
		}
	}
	for _, ds := range w.records {
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

// unexpired returns the RRsets that have not expired.
func (w *world) unexpired(cache []served) []served {
	return slices.DeleteFunc(cache, func(o served) bool { return w.now.After(o.until) })
}

// note adds an RRset to a cache. The later of two expiry times of an RRset counts.
func (w *world) note(cache []served, s served) []served {
	for i, o := range cache {
		if o.content == s.content && o.signers == s.signers {
			if s.until.After(o.until) {
				cache[i].until = s.until
			}
			return cache
		}
	}
	return append(cache, s)
}

// holds reports whether a signed RRset is secure for each algorithm that a resolver trusts: one of the published keys
// signs it. This is stricter than the requirements of RFC 6840 section 5.11 for validators.
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

// goBack restores the previous DS set of the parent, as from a backup, until the parent's next query for CDS records.
// It does so only if signers can prevent an outage: the keys in resolvers' caches are in the set, all nodes publish
// these keys and sign with them, and no node knows that the parent has stopped using them.
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

// disturb starts at most one random disturbance per call. mend ends all disturbances.
func (w *world) disturb() {
	n := w.nodes[w.rng.IntN(len(w.nodes))]
	switch w.rng.IntN(70) {
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
	case 6, 7:
		if n.up {
			ttl := n.ttl
			ttl.DNSKEY, ttl.Answers = w.pick(10*time.Minute, time.Hour), w.pick(time.Minute, time.Hour, 24*time.Hour)
			n.serves(ttl, w.now.Add(n.ahead))
			w.tell("%s starts with the TTLs %+v", n.name, ttl)
		}
	case 8:
		w.lowerDS()
	}
}

func (w *world) pick(d ...time.Duration) time.Duration { return d[w.rng.IntN(len(d))] }

// lowerDS changes the TTL of the parent's DS records. A lower TTL requires that all nodes have seen the previous TTL.
func (w *world) lowerDS() {
	ttl := w.pick(5*time.Minute, time.Hour, 24*time.Hour)
	for _, n := range w.nodes {
		if ttl < w.ttl.DS && (!n.progress.UnderWay() || n.progress.Longest.DS < w.ttl.DS) {
			return
		}
	}
	w.ttl.DS = ttl
	for _, n := range w.nodes {
		n.ttl.DS = ttl
	}
	w.tell("the parent's DS records have the TTL %s", ttl)
}

// keep creates a backup of a node.
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

// mend ends all disturbances.
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

// done reports whether all nodes have completed the latest roll and publish only its key.
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

// A validator that caches each record for its whole TTL considers every answer of every node secure at each time. Rolls
// are plain, change the algorithm, are urgent, are cancelled at any stage, or overlap. Nodes are killed, disconnected
// and restored, and the parent's servers differ, stop answering, or return to earlier records. One key remains at the
// end.
func TestRoll_NoAnswerIsEverBogus(t *testing.T) {
	count := *histories
	if testing.Short() { // with the race detector; a run without it plays all histories
		count /= 5
	}
	wentBack := 0
	for seed := range uint64(count) {
		w := newWorld(t, seed)
		w.start()
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
				w.begin(n, old, emergency) // a cancellation, or no change
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
