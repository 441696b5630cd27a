package dnssec_test

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/answer/dnssec"
	"gslb.internal/overwatch/internal/answer/dnssec/roll"
)

const rolled = "gslb.test."

// answerTTL is the TTL of the answers in the rolled zone.
const answerTTL = 2 * time.Hour

// roller is a node of a cluster with a key rollover.
type roller struct {
	t     *testing.T
	dir   string
	name  string
	clock *time.Time
	zones *dnssec.Zones
	other []*roller
	down  bool

	answers time.Duration // TTL of its answers; 0: answerTTL
}

func (r *roller) open() {
	r.t.Helper()
	var err error
	r.zones, err = dnssec.Open(dnssec.Options{Dir: r.dir, NodeID: r.name, Now: func() time.Time { return *r.clock },
		Registerer: prometheus.NewRegistry(), Logger: zerolog.Nop()})
	if err != nil {
		r.t.Fatal(err)
	}
	r.zones.SetExpected([]string{rolled})
}

func (r *roller) signer() *dnssec.Signer {
	r.t.Helper()
	s, err := r.zones.Signer(rolled)
	if err != nil {
		r.t.Fatal(err)
	}
	return s
}

// round queries the other nodes, merges their keys, and takes a step of the rollover.
func (r *roller) round(parent dnssec.Parent) {
	r.t.Helper()
	var offers []dnssec.Offer
	var neighbours []dnssec.Neighbor
	response := dnssec.Complete
	for _, o := range r.other {
		n := dnssec.Neighbor{Name: o.name}
		if o.down {
			n.Why, response = "it is down", dnssec.Partial
		} else {
			h, err := o.zones.Export()
			if err != nil {
				r.t.Fatal(err)
			}
			offer, err := r.zones.Check(h)
			if err != nil {
				r.t.Fatal(err)
			}
			offers, n.Offer = append(offers, offer), &offer
		}
		neighbours = append(neighbours, n)
	}
	if m, err := r.zones.Merge(offers, response); err != nil || errors.Join(m.Refused...) != nil {
		r.t.Fatal(err, m.Refused)
	}
	r.signer()
	_, err := r.zones.StepRolls(dnssec.Surroundings{Peers: neighbours, TTL: cmp.Or(r.answers, answerTTL),
		Margin: 5 * time.Minute, Parent: func(string) dnssec.Parent { return parent }})
	if err != nil {
		r.t.Fatal(err)
	}
}

// rollers starts nodes with the same key.
func rollers(t *testing.T, count int) (nodes []*roller, clock *time.Time) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for i := range count {
		n := &roller{t: t, dir: filepath.Join(t.TempDir(), "dnssec"), name: fmt.Sprint("n", i+1), clock: &now}
		n.open()
		nodes = append(nodes, n)
	}
	for i, n := range nodes {
		n.other = append(append(n.other, nodes[:i]...), nodes[i+1:]...)
	}
	nodes[0].signer()
	for range 2 {
		for _, n := range nodes {
			n.round(dnssec.Parent{})
		}
	}
	now = now.Add(24 * time.Hour)
	return nodes, &now
}

// kept is an RRset in the cache of a resolver: the tags of its keys or signers, and its expiry.
type kept struct {
	tags, signers []uint16
	until         time.Time
}

func tagsOf(records []dns.RR) (keys, cds []uint16) {
	for _, rr := range records {
		switch rr := rr.(type) {
		case *dns.DNSKEY:
			keys = append(keys, rr.KeyTag())
		case *dns.CDS:
			cds = append(cds, rr.KeyTag)
		}
	}
	return keys, cds
}

func meet(a, b, c []uint16) bool {
	return slices.ContainsFunc(a, func(k uint16) bool { return slices.Contains(b, k) && slices.Contains(c, k) })
}

// A cluster completes a rollover despite restarts, nodes that are down or have old files, and a cancellation. No
// resolver can cache a combination of records that does not validate.
func TestRoll_KeysOfAClusterFollowIt(t *testing.T) {
	histories := uint64(8)
	if testing.Short() { // with the race detector; a run without it plays all histories
		histories = 2
	}
	for seed := range histories {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { rollOnce(t, rand.New(rand.NewPCG(seed, 1))) })
	}
}

func rollOnce(t *testing.T, rng *rand.Rand) {
	nodes, clock := rollers(t, 3)
	parent := nodes[0].signer().DS()
	var cachedDS, cachedKeys, cachedAnswers []kept
	serve := func() {
		drop := func(k kept) bool { return k.until.Before(*clock) }
		cachedDS = slices.DeleteFunc(cachedDS, drop)
		cachedKeys, cachedAnswers = slices.DeleteFunc(cachedKeys, drop), slices.DeleteFunc(cachedAnswers, drop)
		var trusted []uint16
		for _, rr := range parent {
			trusted = append(trusted, rr.(*dns.DS).KeyTag)
		}
		cachedDS = append(cachedDS, kept{tags: trusted, until: clock.Add(time.Hour)})
		for _, n := range nodes {
			if n.down {
				continue
			}
			var signers []uint16
			n.signer()
			for _, k := range n.zones.Keys() {
				if k.Signing {
					signers = append(signers, k.Tag())
				}
			}
			keys, _ := tagsOf(n.signer().Records())
			cachedKeys = append(cachedKeys, kept{keys, signers, clock.Add(dnssec.DefaultKeyTTL)})
			cachedAnswers = append(cachedAnswers, kept{nil, signers, clock.Add(answerTTL)})
		}
		for _, keys := range cachedKeys {
			for _, ds := range cachedDS {
				if !meet(ds.tags, keys.tags, keys.signers) {
					t.Fatalf("%s: DS %v, DNSKEY %v signed by %v", clock, ds.tags, keys.tags, keys.signers)
				}
			}
			for _, a := range cachedAnswers {
				if !meet(keys.tags, keys.tags, a.signers) {
					t.Fatalf("%s: DNSKEY %v, answer signed by %v", clock, keys.tags, a.signers)
				}
			}
		}
	}
	old := nodes[0].zones.Keys()[0].Tag()
	begun, err := nodes[rng.IntN(3)].zones.BeginRoll(rolled, dnssec.RollOptions{Emergency: rng.IntN(2) == 0,
		Algorithm: []dnssec.Algorithm{0, dnssec.ED25519}[rng.IntN(2)]})
	if err != nil {
		t.Fatal(err)
	}
	want := begun.Target.Tag()
	cancelAt := 0
	if rng.IntN(2) == 0 {
		cancelAt, want = 1+rng.IntN(60), old
	}
	backup := filepath.Join(t.TempDir(), "backup")
	if err := os.CopyFS(backup, os.DirFS(nodes[2].dir)); err != nil {
		t.Fatal(err)
	}
	for step := 1; step < 900; step++ {
		*clock = clock.Add(5 * time.Minute)
		n := nodes[rng.IntN(3)]
		switch {
		case step == cancelAt:
			if n.down {
				cancelAt++
				break
			}
			if _, err := n.zones.CancelRoll(rolled); errors.Is(err, dnssec.ErrNoRoll) && n.zones.Rolls() == nil {
				cancelAt++ // the node does not know the roll
			} else if err != nil {
				t.Fatal(err)
			}
		case step < 180 && rng.IntN(30) == 0:
			n.down = !n.down
			if !n.down {
				n.open()
				n.round(dnssec.Parent{DS: dsOf(parent), TTL: time.Hour})
			}
		case step == 180:
			for _, n := range nodes {
				if n.down {
					n.down = false
					n.open()
				}
				n.signer()
			}
		case step == 300: // a restore of old files; the node exchanges keys before it answers
			n := nodes[2]
			if err := errors.Join(os.RemoveAll(n.dir), os.CopyFS(n.dir, os.DirFS(backup))); err != nil {
				t.Fatal(err)
			}
			if err := restrict(n.dir); err != nil {
				t.Fatal(err)
			}
			n.open()
		}
		for _, n := range nodes {
			if !n.down {
				n.round(dnssec.Parent{DS: dsOf(parent), TTL: time.Hour})
			}
		}
		serve()
		if from := nodes[rng.IntN(3)]; !from.down && step%15 == 0 {
			if ds := from.signer().DS(); len(ds) > 0 {
				parent = ds
			}
		}
	}
	for _, n := range nodes {
		keys := n.zones.Keys()
		if len(keys) != 1 || keys[0].Tag() != want || !keys[0].Signing || !keys[0].Offered {
			r := n.zones.Rolls()[0]
			t.Errorf("%s has %d keys and is at %s for %+v, want key %d alone", n.name, len(keys), r.Stage, r.Wait, want)
		}
	}
}

func dsOf(records []dns.RR) (all []*dns.DS) {
	for _, rr := range records {
		all = append(all, rr.(*dns.DS))
	}
	return all
}

// restrict sets the permissions of key files on copies.
func restrict(dir string) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		err = errors.Join(err, os.Chmod(filepath.Join(dir, e.Name()), 0o600))
	}
	return err
}

// A node rejects an emergency roll during another roll, with the command that replaces the current roll. The command
// works at each stage, even if the zone has the maximum number of keys. One key remains.
func TestBeginRoll_TakesARunningRollOver(t *testing.T) {
	for _, algorithm := range []dnssec.Algorithm{dnssec.ECDSAP256SHA256, dnssec.ED25519} {
		for stage := roll.Signing; stage < roll.Done; stage++ {
			if stage == roll.Signing && algorithm == dnssec.ECDSAP256SHA256 {
				continue
			}
			t.Run(fmt.Sprint(algorithm, " at ", stage), func(t *testing.T) {
				nodes, clock := rollers(t, 2)
				a, b := nodes[0], nodes[1]
				if _, err := a.zones.BeginRoll(rolled, dnssec.RollOptions{Algorithm: algorithm}); err != nil {
					t.Fatal(err)
				}
				for b.at() != stage {
					rounds(nodes, clock, dnssec.Parent{DS: dsOf(a.signer().DS()), TTL: time.Hour}, 4*time.Minute)
				}
				_, err := b.zones.BeginRoll(rolled, dnssec.RollOptions{Emergency: true})
				if !errors.Is(err, dnssec.ErrRolling) ||
					!strings.Contains(err.Error(), "gslbctl dnssec roll gslb.test --emergency --take-over") {
					t.Errorf("without taking it over: %v", err)
				}
				for range 2 { // the second attempt starts with three keys
					before := len(b.zones.Keys())
					state, err := b.zones.BeginRoll(rolled, dnssec.RollOptions{Emergency: true, TakeOver: true})
					if err != nil || !state.Emergency || len(b.zones.Keys()) != min(before+1, dnssec.MaxKeys) {
						t.Fatalf("taking it over: %+v, %v", state, err)
					}
					rounds(nodes, clock, dnssec.Parent{DS: dsOf(a.signer().DS()), TTL: time.Hour}, 8*time.Minute)
				}
				_, err = b.zones.PreviewRoll(rolled,
					dnssec.RollOptions{Emergency: true, TakeOver: true, Algorithm: otherThan(b.zones.Rolls()[0].Target)})
				if len(b.zones.Keys()) == dnssec.MaxKeys && !errors.Is(err, dnssec.ErrTooManyKeys) {
					t.Errorf("a new key of another algorithm has no place: %v", err)
				}
				target := b.zones.Rolls()[0].Target.Tag()
				for range 200 {
					rounds(nodes, clock, dnssec.Parent{DS: dsOf(a.signer().DS()), TTL: time.Hour}, 4*time.Minute)
				}
				for _, n := range nodes {
					if keys := n.zones.Keys(); n.at() != roll.Done || len(keys) != 1 || keys[0].Tag() != target {
						t.Errorf("%s is at %s with %d keys", n.name, n.at(), len(keys))
					}
				}
			})
		}
	}
}

// otherThan returns another algorithm than the algorithm of the key.
func otherThan(k *dnssec.Key) dnssec.Algorithm {
	if k.Algorithm() == dnssec.ED25519 {
		return dnssec.ECDSAP256SHA256
	}
	return dnssec.ED25519
}

// at returns the stage of the roll of a node.
func (r *roller) at() roll.Stage {
	for _, state := range r.zones.Rolls() {
		return state.Stage
	}
	return 0
}

// A roll of a zone that becomes unsigned is rejected with the command that stops the transition. The roll then begins.
func TestBeginRoll_WhileTheZoneBecomesUnsigned(t *testing.T) {
	nodes, _ := rollers(t, 1)
	z := nodes[0].zones
	if _, err := z.BeginTransition(rolled, roll.ToUnsigned, roll.TTLs{DS: time.Hour}); err != nil {
		t.Fatal(err)
	}
	o := dnssec.RollOptions{Emergency: true}
	if _, err := z.BeginRoll(rolled, o); err == nil ||
		!strings.Contains(err.Error(), "gslbctl dnssec roll gslb.test --cancel") {
		t.Errorf("the message is %v", err)
	}
	if _, err := z.CancelRoll(rolled); err != nil {
		t.Fatal(err)
	}
	if _, err := z.BeginRoll(rolled, o); err != nil {
		t.Errorf("after the command: %v", err)
	}
}

// Invalid rolls are rejected with the reason, and change nothing.
func TestRoll_RefusesWhatCannotBe(t *testing.T) {
	nodes, clock := rollers(t, 1)
	z := nodes[0].zones
	if _, err := z.BeginRoll("other.test", dnssec.RollOptions{}); !errors.Is(err, dnssec.ErrNotSigned) {
		t.Errorf("a zone that is not served: %v", err)
	}
	if _, err := z.CancelRoll(rolled); !errors.Is(err, dnssec.ErrNoRoll) {
		t.Errorf("nothing to cancel: %v", err)
	}
	if _, err := z.ConfirmDS(rolled); !errors.Is(err, dnssec.ErrNoRoll) {
		t.Errorf("nothing to confirm: %v", err)
	}
	if _, err := z.BeginRoll("GSLB.test", dnssec.RollOptions{}); err != nil {
		t.Fatalf("upper case, no dot at the end: %v", err)
	}
	if _, err := z.BeginRoll(rolled, dnssec.RollOptions{}); !errors.Is(err, dnssec.ErrRolling) {
		t.Errorf("twice: %v", err)
	}
	if _, err := z.ConfirmDS(rolled); err == nil {
		t.Error("confirmed before it was offered")
	}
	*clock = clock.Add(3 * time.Hour)
	nodes[0].round(dnssec.Parent{Why: "cut off"})
	state, err := z.ConfirmDS(rolled)
	if err != nil || state.Stage != roll.Offered {
		t.Fatalf("confirmed: %+v, %v", state, err)
	}
	*clock = clock.Add(47 * time.Hour)
	nodes[0].round(dnssec.Parent{Why: "cut off"})
	if got := z.Rolls()[0].Stage; got != roll.Offered {
		t.Errorf("47 hours after the word of an operator it is at %s", got)
	}
	*clock = clock.Add(2 * time.Hour)
	nodes[0].round(dnssec.Parent{Why: "cut off"})
	if got := z.Rolls()[0].Stage; got != roll.Alone {
		t.Errorf("49 hours after the word of an operator it is at %s", got)
	}
}

// A preview returns the stages of a roll and changes nothing. After the start, the roll has the same stages, with the
// TTL of the parent's records after the first query to the parent.
func TestRoll_StagesAreTold(t *testing.T) {
	nodes, clock := rollers(t, 2)
	n := nodes[0]
	o := dnssec.RollOptions{Emergency: true, TTL: roll.TTLs{Margin: 5 * time.Minute, Answers: answerTTL, DS: time.Hour}}
	before, err := os.ReadDir(n.dir)
	if err != nil {
		t.Fatal(err)
	}
	preview, err := n.zones.PreviewRoll("GSLB.test", o)
	if err != nil || len(preview.Schedule) != 3 || preview.Target != nil || len(preview.Old) != 1 {
		t.Fatalf("%+v, %v", preview, err)
	}
	published := preview.Schedule[0].NotBefore // emergency: uses the TTL of DNSKEY records instead of answers
	if want := clock.Add(dnssec.DefaultKeyTTL + 5*time.Minute); !published.Equal(want) {
		t.Errorf("offered is told for %s, want %s", published, want)
	}
	if after, err := os.ReadDir(n.dir); err != nil || len(after) != len(before) || len(n.zones.Rolling()) > 0 {
		t.Errorf("the preview left %v, %v", after, err)
	}
	if _, err := n.zones.PreviewRoll("none.example", o); !errors.Is(err, dnssec.ErrNotSigned) {
		t.Errorf("of another zone: %v", err)
	}
	begun, err := n.zones.BeginRoll(rolled, o)
	if err != nil || len(begun.Schedule) != 3 || len(begun.Advice) != 3 {
		t.Fatalf("%+v, %v", begun, err)
	}
	if _, err := n.zones.PreviewRoll(rolled, o); !errors.Is(err, dnssec.ErrRolling) {
		t.Errorf("while one is under way: %v", err)
	}
	for range 2 {
		nodes[1].round(dnssec.Parent{})
		n.round(dnssec.Parent{TTL: 6 * time.Hour})
	}
	told := n.zones.Rolls()[0].Schedule
	if len(told) != 3 || told[0].WaitsFor != "" || told[1].NotBefore.Sub(told[0].NotBefore) != 6*time.Hour+5*time.Minute {
		t.Errorf("after a look: %+v", told)
	}
}

// The keys of a roll indicate which key the chain of trust uses: the old key until the parent has only the DS record of
// the new key, according to its servers or an operator. If the roll is cancelled before the new key is offered, the old
// key stays in use.
func TestRoll_KeysSayWhatTheyAreInIt(t *testing.T) {
	nodes, clock := rollers(t, 1)
	n := nodes[0]
	says := func(when string, want ...string) {
		t.Helper()
		var got []string
		for _, k := range n.zones.Keys() {
			word := string(k.State)
			if k.Incoming {
				word += " incoming"
			}
			if k.Retiring {
				word += " retiring"
			}
			got = append(got, word)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: the keys are %q, want %q", when, got, want)
		}
	}
	stage := func(want roll.Stage, parent dnssec.Parent) {
		t.Helper()
		for range 200 {
			if n.zones.Rolls()[0].Stage == want {
				n.round(parent)
				return
			}
			*clock = clock.Add(4 * time.Minute) // the parent is queried without interruption
			n.round(parent)
		}
		t.Fatalf("the roll is at %s, want %s", n.zones.Rolls()[0].Stage, want)
	}
	begin := func() (old, fresh dnssec.Parent) {
		t.Helper()
		state, err := n.zones.BeginRoll(rolled, dnssec.RollOptions{})
		if err != nil {
			t.Fatal(err)
		}
		n.signer()
		return dnssec.Parent{DS: []*dns.DS{state.Old[0].DS(0)}, TTL: time.Hour},
			dnssec.Parent{DS: []*dns.DS{state.Target.DS(0)}, TTL: time.Hour}
	}
	says("before", "active")

	old, _ := begin()
	says("published", "active", "active incoming")
	if _, err := n.zones.CancelRoll(rolled); err != nil {
		t.Fatal(err)
	}
	says("taken back", "active", "active retiring")
	stage(roll.Done, old)
	says("taken back, and done", "active")

	old, fresh := begin()
	n.round(old)
	stage(roll.Offered, old)
	says("offered", "active", "active incoming")
	n.round(fresh)
	says("the parent has it", "active retiring", "active")
	n.round(old)
	says("the parent has gone back", "active", "active incoming")
	if _, err := n.zones.ConfirmDS(rolled); err != nil {
		t.Fatal(err)
	}
	says("an operator says that the parent has it", "active retiring", "active")
	stage(roll.Alone, fresh)
	says("alone", "retired retiring", "active")
	stage(roll.Done, fresh)
	says("done", "active")
}

// A reload does not change a rollover: DNSKEY records have the same TTL, and each stage has the same duration.
func TestReread_KeyRecordsKeepTheirTTL(t *testing.T) {
	nodes, clock := rollers(t, 1)
	n := nodes[0]
	reload := func() {
		t.Helper()
		if _, err := n.zones.ReloadKeys(); err != nil {
			t.Fatal(err)
		}
		n.round(dnssec.Parent{TTL: time.Hour})
	}
	// emergency: the wait depends only on the TTL of DNSKEY records
	if _, err := n.zones.BeginRoll(rolled, dnssec.RollOptions{Emergency: true}); err != nil {
		t.Fatal(err)
	}
	reload()
	for _, rr := range append(n.signer().Records(), n.signer().DS()...) {
		if got := time.Duration(rr.Header().Ttl) * time.Second; got != dnssec.DefaultKeyTTL {
			t.Errorf("the TTL is %s: %s", got, rr)
		}
	}
	if told := n.zones.Rolls()[0].Schedule; len(told) != 3 {
		t.Errorf("the stages to come are %+v", told)
	}
	*clock = clock.Add(dnssec.DefaultKeyTTL)
	reload()
	if got := n.zones.Rolls()[0].Stage; got != roll.Published {
		t.Errorf("before the TTL and the margin are over it is at %s", got)
	}
	*clock = clock.Add(5 * time.Minute)
	reload()
	if got := n.zones.Rolls()[0].Stage; got != roll.Offered {
		t.Errorf("afterwards it is at %s", got)
	}
}

// Repeated reloads do not restart the wait after the parent has the offered records.
func TestReread_TheParentsTTLIsCountedOn(t *testing.T) {
	reloads := func(nodes []*roller, clock *time.Time, parent dnssec.Parent) {
		t.Helper()
		for range 4 {
			rounds(nodes, clock, parent, 2*time.Hour)
			if _, err := nodes[0].zones.ReloadKeys(); err != nil {
				t.Fatal(err)
			}
		}
	}
	nodes, clock := rollers(t, 1)
	begun, err := nodes[0].zones.BeginRoll(rolled, dnssec.RollOptions{})
	if err != nil {
		t.Fatal(err)
	}
	rounds(nodes, clock, dnssec.Parent{DS: []*dns.DS{begun.Old[0].DS(0)}, TTL: 6 * time.Hour}, 3*time.Hour)
	if got := nodes[0].zones.Rolls()[0].Stage; got != roll.Offered {
		t.Fatalf("the roll is at %s", got)
	}
	reloads(nodes, clock, dnssec.Parent{DS: []*dns.DS{begun.Target.DS(0)}, TTL: 6 * time.Hour})
	if got := nodes[0].zones.Rolls()[0]; got.Stage != roll.Alone {
		t.Errorf("eight hours after the parent has the new record the roll is at %s: %+v", got.Stage, got.Wait)
	}

	nodes, clock = rollers(t, 1)
	if _, err := nodes[0].zones.BeginTransition(rolled, roll.ToUnsigned, roll.TTLs{DS: 6 * time.Hour}); err != nil {
		t.Fatal(err)
	}
	reloads(nodes, clock, dnssec.Parent{TTL: 6 * time.Hour})
	if got := nodes[0].zones.Rolls()[0]; got.Stage != roll.Alone {
		t.Errorf("eight hours after the parent has no record the way is at %s: %+v", got.Stage, got.Wait)
	}
}

// A node can cancel a roll for all nodes even if its clock is behind the clock of the node that began the roll.
func TestCancelRoll_OfANodeWhoseClockIsBehind(t *testing.T) {
	nodes, clock := rollers(t, 2)
	old := nodes[0].zones.Keys()[0].Tag()
	if _, err := nodes[0].zones.BeginRoll(rolled, dnssec.RollOptions{}); err != nil {
		t.Fatal(err)
	}
	rounds(nodes, clock, dnssec.Parent{TTL: time.Hour}, 0)
	*clock = clock.Add(-2 * time.Minute)
	if back, err := nodes[1].zones.CancelRoll(rolled); err != nil || back.Target.Tag() != old {
		t.Fatalf("%+v, %v", back, err)
	}
	*clock = clock.Add(3 * time.Minute)
	rounds(nodes, clock, dnssec.Parent{TTL: time.Hour}, 0)
	for _, n := range nodes {
		if got := n.zones.Rolls()[0]; got.Target.Tag() != old || len(got.Old) != 1 {
			t.Errorf("%s goes to key %d, and %d are to go", n.name, got.Target.Tag(), len(got.Old))
		}
	}
}

// If the disk is unwritable, rolls fail and leave no files. The first successful roll exists after a restart.
func TestBeginRoll_FailuresLeaveNothing(t *testing.T) {
	nodes, _ := rollers(t, 1)
	n := nodes[0]
	record := filepath.Join(n.dir, "gslb.test.record")
	if err := errors.Join(os.Remove(record), os.Mkdir(record, 0o700)); err != nil { // a directory prevents the file
		t.Fatal(err)
	}
	for range 20 { // above the maximum number of keys per record
		if _, err := n.zones.BeginRoll(rolled, dnssec.RollOptions{}); err == nil {
			t.Fatal("it begins")
		}
	}
	if err := os.Remove(record); err != nil {
		t.Fatal(err)
	}
	if _, err := n.zones.BeginRoll(rolled, dnssec.RollOptions{}); err != nil {
		t.Fatal(err)
	}
	n.open()
	n.signer()
	if r := n.zones.Rolls(); len(r) != 1 || r[0].Stage != roll.Published || len(n.zones.Keys()) != 2 {
		t.Errorf("after a restart: %+v, keys %+v", r, n.zones.Keys())
	}
}
