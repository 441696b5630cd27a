package zone // inside: it looks at client and kind

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"
	"testing"

	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/answer/geo"
	"gslb.internal/overwatch/internal/policy"
)

// These clients are in the regions a and b of testPlaces, and in no region.
var (
	clientA  = netip.MustParseAddr("192.0.2.9")
	clientB  = netip.MustParseAddr("2001:db8:b::1")
	clientNo = netip.MustParseAddr("203.0.113.1")
)

func testPlaces(t testing.TB) *geo.Table {
	t.Helper()
	table, err := geo.New(geo.Sources{Regions: []geo.Region{{Name: "a"}, {Name: "b"}}, Mappings: []geo.Mapping{
		{
			CIDR:   netip.MustParsePrefix("192.0.2.0/24"),
			Region: "a",
		}, {CIDR: netip.MustParsePrefix("2001:db8:b::/48"), Region: "b"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// placeIn sets the decisions of a name for clients in no region, in the region a and in the region b, each as "region
// address/parts ...".
func placeIn(t testing.TB, w *Writer, v *View, name string, decisions ...string) bool {
	t.Helper()
	both := make([][2]policy.Decision, len(decisions))
	for i, words := range decisions {
		var region, addresses string
		_, _ = fmt.Sscan(words, &region)
		addresses = words[len(region):]
		both[i] = decide(addresses)
		for f := range both[i] {
			both[i][f].Group = region
		}
	}
	changed, err := w.SetRegionAnswers(v, name, both, 1)
	if err != nil {
		t.Fatal(err)
	}
	return changed
}

// leads counts, for each address, the answers to a client with this address first, among n answers.
func leads(t testing.TB, v *View, name string, client netip.Addr, n int, turns *Rotations) map[string]int {
	t.Helper()
	seen := make(map[string]int)
	for range n {
		r := v.Resolve(name, dns.TypeA, false, client, turns)
		if len(r.Answer) == 0 {
			t.Fatalf("%s: no answer", client)
		}
		seen[r.Answer[0].(*dns.A).A.String()]++
	}
	return seen
}

func TestPlace_EachRegionsSharesAreExactWhoeverAsksBetween(t *testing.T) {
	v := newView(t, nil, contents(t, "gslb.test.", "steer app"))
	v.SetRegionTable(testPlaces(t))
	placeIn(
		t,
		NewWriter(),
		v,
		"app.gslb.test.",
		"a 10.0.0.1/1 10.0.0.2/2",
		"a 10.0.0.1/1 10.0.0.2/2",
		"b 10.0.0.3/3 10.0.0.4/1",
	)
	turns, seen := NewRotations(1, 1), map[string]int{}
	for n := 1; n <= 300; n++ {
		for _, client := range []netip.Addr{clientA, clientB} {
			for address, led := range leads(t, v, "app.gslb.test.", client, 1, turns) {
				seen[address] += led
			}
		}
		for address, share := range map[string]float64{"10.0.0.1": 1. / 3, "10.0.0.2": 2. / 3, "10.0.0.3": .75,
			"10.0.0.4": .25} {
			if off := float64(seen[address]) - share*float64(n); off > 1 || off < -1 {
				t.Fatalf("%s led %d of %d answers in its region, due %.1f", address, seen[address], n, share*float64(n))
			}
		}
	}
}

func TestPlace_AChangeElsewhereLeavesEveryTurnWhereItIs(t *testing.T) {
	v := newView(t, nil, contents(t, "gslb.test.", "steer app"))
	v.SetRegionTable(testPlaces(t))
	w, turns, seen := NewWriter(), NewRotations(1, 1), map[string]int{}
	for i := range 60 {
		home, other := "a 10.0.0.1 10.0.0.2 10.0.0.3", "b 10.0.0.4"
		if i%2 == 1 {
			other = home // b is down: its clients go to a
		}
		if !placeIn(t, w, v, "app.gslb.test.", home, home, other) {
			t.Fatal("nothing changed")
		}
		if placeIn(t, w, v, "app.gslb.test.", home, home, other) {
			t.Fatal("the same decisions changed something")
		}
		if i%10 == 9 {
			v = newView(t, v, contents(t, "gslb.test.", "steer app", fmt.Sprint("steer other", i)))
		}
		for address, led := range leads(t, v, "app.gslb.test.", clientA, 1, turns) {
			seen[address] += led
		}
	}
	for address, led := range seen {
		if led != 20 {
			t.Errorf("%s led %d of 60 answers, want 20: %v", address, led, seen)
		}
	}
}

// Generations of two writers may have the same number, like generations of one writer after 2^32 changes.
func TestTurns_OfAnotherWritersLongerScheduleBeginAgain(t *testing.T) {
	turns := NewRotations(1, 1)
	for _, words := range []string{"10.0.0.1/3 10.0.0.2/5", "10.0.0.1 10.0.0.2 10.0.0.3", "10.0.0.1"} {
		v := newView(t, nil, contents(t, "gslb.test.", "steer app"))
		steer(t, NewWriter(), v, "app.gslb.test.", words, 1)
		leads(t, v, "app.gslb.test.", clientA, 6, turns)
	}
}

func TestPlace_TheScopeIsTheTablesWhereTheAnswerDependsOnIt(t *testing.T) {
	v := newView(t, nil, contents(t, "gslb.test.", "steer app", "steer all", "steer down", "steer some",
		"www CNAME app", "alias cdn"))
	v.SetRegionTable(testPlaces(t))
	w := NewWriter()
	placeIn(t, w, v, "app.gslb.test.", "a 10.0.0.1", "a 10.0.0.1", "b 10.0.0.3")
	placeIn(t, w, v, "down.gslb.test.", "a down", "a down", "b down")
	placeIn(t, w, v, "some.gslb.test.", "a", "a down", "b 10.0.0.3") // the first clients have no data
	steer(t, w, v, "all.gslb.test.", "10.0.0.5", 1)
	for _, c := range []struct {
		name   string
		rtype  uint16
		client netip.Addr
		kind   Kind
		scope  uint8
	}{
		{"app", dns.TypeA, clientA, Positive, 24},
		{"app", dns.TypeANY, clientA, Positive, 24},
		{"app", dns.TypeA, clientB, Positive, 48},
		{"app", dns.TypeA, clientNo, Positive, 5},
		{"app", dns.TypeAAAA, clientA, NoData, 0},
		{"app", dns.TypeTXT, clientA, NoData, 0},
		{"all", dns.TypeA, clientA, Positive, 0},
		{"down", dns.TypeA, clientA, Failed, 0},
		{"some", dns.TypeA, clientB, Positive, 48},
		{"some", dns.TypeA, clientA, Failed, 24},
		{"some", dns.TypeA, clientNo, NoData, 5},
	} {
		name := c.name + ".gslb.test."
		msg, q := question(t, name, c.rtype)
		q.Client = c.client
		_, answer := v.Append(msg, q, NewRotations(1, 1))
		if answer.Kind != c.kind || answer.Scope != c.scope {
			t.Errorf(
				"%s %s for %s: kind %d, scope %d, want %d and %d",
				name,
				dns.TypeToString[c.rtype],
				c.client,
				answer.Kind,
				answer.Scope,
				c.kind,
				c.scope,
			)
		}
		if r := v.oracle(name, c.rtype, false, c.client, NewRotations(1, 1)); r.Kind != c.kind || r.Scope != c.scope {
			t.Errorf("the oracle, %s for %s: kind %d, scope %d", name, c.client, r.Kind, r.Scope)
		}
	}
	if r := v.Resolve("www.gslb.test.", dns.TypeA, false, clientA, NewRotations(1, 1)); r.Scope != 24 {
		t.Errorf("an alias of a placed name: scope %d, want 24", r.Scope)
	}
	placeIn(t, w, v, "cdn.gslb.test.", "a all.gslb.test.", "a all.gslb.test.", "b nx.gslb.test.")
	for client, want := range map[netip.Addr]struct {
		kind  Kind
		scope uint8
	}{clientA: {Positive, 24}, clientB: {NXDomain, 48}} {
		r := v.Resolve("cdn.gslb.test.", dns.TypeA, false, client, NewRotations(1, 1))
		if r.Kind != want.kind || r.Scope != want.scope || len(r.Answer) == 0 {
			t.Errorf("a placed alias of what is not, for %s: scope %d, want %d: %v", client, r.Scope, want.scope, r)
		}
	}
}

// Clients without data receive a proof that the name lacks the type, which is signed before the first query.
func TestPlace_SomeClientsReceiveASignedProofOfNoData(t *testing.T) {
	c := contents(t, "gslb.test.", "steer some")
	signer := newTestSigner(t, c.Apex)
	c.Signer, c.Records = signer, append(c.Records, signer.key)
	v := newView(t, nil, c)
	v.SetRegionTable(testPlaces(t))
	w := NewWriter()
	placeIn(t, w, v, "some.gslb.test.", "a 10.0.0.1", "a", "b 10.0.0.3")
	prepared := 0
	for _, sig := range w.TakeNewSignatures() {
		if binary.BigEndian.Uint16([]byte(sig.content)) == dns.TypeNSEC {
			prepared++
		}
	}
	if prepared != 2 { // without A, and without AAAA
		t.Errorf("%d prepared NSEC records, want 2", prepared)
	}
	r := v.Resolve("some.gslb.test.", dns.TypeA, true, clientA, NewRotations(1, 1))
	for _, rr := range r.Authority {
		if nsec, is := rr.(*dns.NSEC); is && r.Kind == NoData {
			if slices.Contains(nsec.TypeBitMap, dns.TypeA) || !slices.Contains(nsec.TypeBitMap, dns.TypeAAAA) {
				t.Errorf("the types are %v", nsec.TypeBitMap)
			}
			return
		}
	}
	t.Errorf("no proof: %v", r)
}

// A group that is removed in two successive views frees its rotation index once, so that no two answers share the
// index.
func TestPlace_ATurnThatTwoViewsGiveBackIsGivenToOne(t *testing.T) {
	c := contents(t, "gslb.test.", "steer app", "steer other")
	v := newView(t, nil, c)
	w := NewWriter()
	placeIn(t, w, v, "app.gslb.test.", "a 10.0.0.1", "b 10.0.0.2")
	c.Unshared = []string{"app.gslb.test."}
	next := newView(t, v, c)
	placeIn(t, w, v, "app.gslb.test.", "a 10.0.0.1", "a 10.0.0.1")
	placeIn(t, w.Fork(), next, "app.gslb.test.", "a 10.0.0.1", "a 10.0.0.1")
	placeIn(t, w.Fork(), next, "other.gslb.test.", "a 10.0.0.1", "b 10.0.0.2")
	seen := map[uint32]bool{}
	key, _ := canonicalName("other.gslb.test.")
	_, o := next.findOwner(key)
	o.answers.Load().eachVariant(func(in *variant) { seen[in.rotationIndex] = true })
	if len(seen) != 2 {
		t.Errorf("the two groups of a name have the turns %v", seen)
	}
}

func TestPlace_AnotherTableIsFollowedAtOnce(t *testing.T) {
	v := newView(t, nil, contents(t, "gslb.test.", "steer app"))
	placeIn(t, NewWriter(), v, "app.gslb.test.", "a 10.0.0.1", "a 10.0.0.1", "b 10.0.0.3")
	turns := NewRotations(1, 1)
	if seen := leads(t, v, "app.gslb.test.", clientB, 1, turns); seen["10.0.0.1"] != 1 {
		t.Errorf("without a table: %v, want what clients in no region get", seen)
	}
	v.SetRegionTable(testPlaces(t))
	if seen := leads(t, v, "app.gslb.test.", clientB, 1, turns); seen["10.0.0.3"] != 1 {
		t.Errorf("with the table: %v, want what clients in b get", seen)
	}
}

func TestPlace_ANameMayStopDependingOnTheClient(t *testing.T) {
	v := newView(t, nil, contents(t, "gslb.test.", "steer app"))
	v.SetRegionTable(testPlaces(t))
	w, turns := NewWriter(), NewRotations(1, 1)
	for range 100 {
		placeIn(t, w, v, "app.gslb.test.", "a 10.0.0.1", "a 10.0.0.1", "b 10.0.0.3")
		if !steer(t, w, v, "app.gslb.test.", "10.0.0.9", 1) {
			t.Fatal("nothing changed")
		}
		if seen := leads(t, v, "app.gslb.test.", clientB, 1, turns); seen["10.0.0.9"] != 1 {
			t.Fatalf("%v, want what everybody gets", seen)
		}
	}
	if n := len(v.rotations.isSpare); n > 8 {
		t.Errorf("%d turns are taken by one name", n)
	}
}
