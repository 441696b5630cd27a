package overwatch // inside: it shares model_place_test.go

import (
	"cmp"
	"crypto/sha256"
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/answer/explain"
	"gslb.internal/overwatch/internal/answer/zone"
	"gslb.internal/overwatch/internal/policy"
	"gslb.internal/shared/api"
)

// These are the flags of the tests with random worlds and histories. The message of a failure includes its seed.
var (
	firstSeed = flag.Uint64("seed", 0, "seed of the first world or history; 0: a random world, and the history of seed 1")
	manyTimes = flag.Int("queries", fewQueries, "number of queries about random worlds; a million takes a few minutes")
)

const (
	fewQueries      = 30_000
	queriesPerWorld = 3_000
	queriesPerState = 100
)

// For random worlds, states and queries, explanations agree with DNS answers: the same outcome, TTL and scope,
// addresses with a share in the explanation, and the frequency of that share.
func TestExplain_TheExplanationIsTheWire(t *testing.T) {
	queries, seed := *manyTimes, worldSeed()
	if testing.Short() { // with the race detector; a run without it sends all queries
		queries /= 5
	}
	seen := map[string]int{}
	for done := 0; done < queries; done += queriesPerWorld {
		play(t, seed, min(queries-done, queriesPerWorld), seen)
		seed++
	}
	if queries < fewQueries {
		return
	}
	for _, outcome := range api.RoutingDecisionKinds() {
		if seen[string(outcome)] == 0 {
			t.Errorf("no answer came about as %s", outcome)
		}
	}
	if seen["HTTPS"] == 0 {
		t.Error("no HTTPS record was explained")
	}
	for _, algorithm := range policy.Algorithms() {
		if seen["success by "+algorithm.Name] == 0 {
			t.Errorf("nothing was answered by %s", algorithm)
		}
	}
}

// A world depends only on its seed, to the octet, so that failures are reproducible.
func TestExplain_ASeedRepeatsWhatHappens(t *testing.T) {
	seed := worldSeed()
	if first, again := play(t, seed, 10*queriesPerState, map[string]int{}),
		play(t, seed, 10*queriesPerState, map[string]int{}); first != again {
		t.Errorf("seed %d was answered in two ways", seed)
	}
}

// play sends the given number of queries in a world and returns the hash of all answers.
func play(t *testing.T, seed uint64, queries int, seen map[string]int) (answers [sha256.Size]byte) {
	t.Helper()
	w := newRandomWorld(t, seed, seen)
	defer w.close()
	for range queries / queriesPerState {
		w.change()
		for range queriesPerState / 2 {
			w.ask(w.randomQuestion())
		}
		w.askOften(w.randomQuestion(), queriesPerState/2)
		for range 6 {
			w.askInsideScope(w.randomQuestion())
		}
		if t.Failed() {
			t.Fatalf("-seed=%d repeats it", seed)
		}
	}
	w.compareFlows()
	return [sha256.Size]byte(w.answers.Sum(nil))
}

// worldSeed returns the seed of the first world.
func worldSeed() uint64 { return cmp.Or(*firstSeed, 1+rand.Uint64N(1<<30)) }

var regionNames = []string{"eu", "us", "asia", "mars"}

// ask compares an answer with its explanation.
func (w *randomWorld) ask(q question) (wire *dns.Msg, e explain.Explanation) {
	w.t.Helper()
	wire, e = w.both(q)
	if e.Basis != nil && q.https {
		w.seen["HTTPS"]++
	}
	if e.Basis != nil {
		w.seen[string(e.Outcome)+" by "+e.Basis.Rules.Algorithm.Name]++
	}
	w.seen[string(e.Outcome)]++
	if e.Basis != nil && w.random.IntN(50) == 0 {
		if wrong := w.compareSample(wire, e); wrong != "" {
			w.t.Errorf("%+v: the newest sampled decision %s; wire: %v", q, wrong, wire)
		}
	}
	if wrong := compare(wire, e); wrong != "" {
		w.t.Errorf("%+v: %s\nwire: %v\nexplained: %s with %+v, TTL %d, scope %d, of %+v", q, wrong, wire, e.Outcome,
			e.Decision.Members, e.TTL, e.Scope, e.Basis)
	}
	return wire, e
}

// both returns a DNS answer and its explanation.
func (w *randomWorld) both(q question) (*dns.Msg, explain.Explanation) {
	e := w.explanation(q)
	wire := w.exchange(q)
	if addresses, _ := addressesOf(wire); len(addresses) > 0 && e.Basis != nil {
		w.asked++
	}
	return wire, e
}

func (w *randomWorld) explanation(q question) explain.Explanation {
	asked := explain.Query{Name: q.name, Family: q.family, Client: netip.MustParseAddr("127.0.0.1")}
	if q.subnet.IsValid() && q.subnet.Bits() > 0 {
		asked.Client, asked.Subnet = q.subnet.Addr(), true
	}
	if q.https {
		asked.Type = dns.TypeHTTPS
	}
	e, err := explain.Explain(w.publisher.View(), asked)
	if err != nil {
		w.t.Fatal(err)
	}
	return e
}

// compare describes the difference between an answer and its explanation, or returns "" if they agree.
func compare(wire *dns.Msg, e explain.Explanation) string {
	want := map[policy.Outcome][]int{
		policy.NoHealthyBackend: {dns.RcodeServerFailure}, explain.DomainNotFound: {dns.RcodeNameError, dns.RcodeRefused},
	}[e.Outcome]
	if want == nil {
		want = []int{dns.RcodeSuccess}
	}
	if !slices.Contains(want, wire.Rcode) {
		return "the wire says " + dns.RcodeToString[wire.Rcode]
	}
	addresses, ttl := addressesOf(wire)
	if e.Basis == nil {
		if !slices.Equal(addresses, e.Addresses) {
			return "other addresses"
		}
		return ""
	}
	if len(addresses) != min(len(e.Decision.Members), e.Basis.Answers) || len(e.Addresses) != len(addresses) {
		return "another number of addresses"
	}
	for _, address := range append(addresses, e.Addresses...) {
		if shareOf(e.Decision.Members, address) == 0 {
			return fmt.Sprintf("%s has no share", address)
		}
	}
	if e.Decision.Hashed && !slices.Equal(addresses, e.Addresses) {
		return "other addresses for this client network"
	}
	if len(addresses) > 0 && (ttl != e.TTL || ttl != e.Decision.TTL) {
		return "another TTL"
	}
	if scope, there := scopeOf(wire); there && len(addresses) > 0 && scope != e.Scope {
		return fmt.Sprintf("the wire's scope is %d", scope)
	}
	return shares(e)
}

// shares describes an error in the shares of an explanation, or returns "" if they are correct.
func shares(e explain.Explanation) string {
	sum, seen := 0.0, map[netip.Addr]bool{}
	for i := range e.Backends {
		b := &e.Backends[i]
		if (b.Excluded == "") != (b.Share > 0) {
			return fmt.Sprintf("%s has the share %f and is excluded because %q", b.Address, b.Share, b.Excluded)
		}
		if b.Excluded == "" && !seen[b.Address] {
			seen[b.Address] = true
			sum += b.Share
		}
	}
	if len(e.Decision.Members) > 0 && (sum < 0.999999 || sum > 1.000001 || e.Selected() == nil) {
		return fmt.Sprintf("the shares come to %f, selected is %v", sum, e.Selected())
	}
	return ""
}

// compareSample describes the difference between the latest sampled decision and its answer, or returns "" if they
// agree.
func (w *randomWorld) compareSample(wire *dns.Msg, e explain.Explanation) string {
	d := w.decisions.Decisions()[0]
	if again, ok := w.decisions.Decision(d.ID); !ok || again != d {
		return "is another by its id"
	}
	past := explain.ExplainPast(explain.Query{Name: e.Name, Family: e.Family, Client: d.Client.Addr()}, d.Selection)
	addresses, _ := addressesOf(wire)
	switch {
	case past.Basis != e.Basis || past.Outcome != e.Outcome || past.Region != e.Region ||
		!d.Client.Contains(e.Client.Unmap()):
		return fmt.Sprintf("is %+v", d)
	case len(addresses) != 0 && (len(past.Addresses) == 0 || past.Addresses[0] != addresses[0]):
		return fmt.Sprintf("has %v first", past.Addresses)
	case len(addresses) == 0 && len(past.Addresses) != 0:
		return fmt.Sprintf("has %v", past.Addresses)
	}
	return ""
}

// compareFlows checks that every answer with an address was counted once.
func (w *randomWorld) compareFlows() {
	w.t.Helper()
	sum := w.decisions.Missed()
	for _, f := range w.decisions.Flows(time.Time{}, time.Time{}) {
		sum += f.Count
	}
	if totals := w.decisions.Totals(); sum != w.asked || totals.Decisions < sum || totals.Average <= 0 {
		w.t.Errorf("%d answers were counted, %d were given; %+v", sum, w.asked, totals)
	}
}

// askOften compares the frequency of each first address with its share.
func (w *randomWorld) askOften(q question, times int) {
	w.t.Helper()
	led := map[netip.Addr]int{}
	_, first := w.ask(q)
	for range times {
		wire, e := w.ask(q)
		if e.Basis == nil || len(e.Decision.Members) == 0 {
			return
		}
		addresses, _ := addressesOf(wire)
		led[addresses[0]]++
	}
	if first.Decision.Hashed { // the client has a fixed backend, which ask has compared
		return
	}
	for _, due := range first.Decision.Members {
		if want := explain.Share(first.Decision.Members, due) * float64(times); float64(led[due.Address]) < want-2.1 ||
			float64(led[due.Address]) > want+2.1 {
			w.t.Errorf("%+v: %s led %d of %d answers, its share is %.2f of them", q, due.Address, led[due.Address], times, want)
		}
	}
}

// shareOf returns the fraction of answers with the address first, or 0 for other addresses.
func shareOf(due []policy.Member, address netip.Addr) float64 {
	at := slices.IndexFunc(due, func(d policy.Member) bool { return d.Address == address })
	if at < 0 {
		return 0
	}
	return explain.Share(due, due[at])
}

// askInsideScope compares the answer for a network with the answers for networks and addresses inside its scope.
func (w *randomWorld) askInsideScope(q question) {
	w.t.Helper()
	wire, first := w.ask(q)
	scope, there := scopeOf(wire)
	if !there || first.Basis == nil || len(first.Decision.Members) == 0 || q.subnet.Bits() == 0 {
		return
	}
	wanted, _ := addressesOf(wire)
	for range 8 {
		inside := netip.PrefixFrom(within(w.random, netip.PrefixFrom(q.subnet.Addr(), int(scope))),
			int(scope)+w.random.IntN(q.subnet.Addr().BitLen()-int(scope)+1))
		if inside.Bits() == 0 {
			continue
		}
		other, e := w.ask(question{q.name, q.family, q.https, inside.Masked()})
		if e.Basis == nil {
			w.t.Errorf("%+v is steered and %s inside its scope is not", q, inside)
			return
		}
		addresses, _ := addressesOf(other)
		if !slices.Equal(e.Decision.Members, first.Decision.Members) || e.Decision.Hashed != first.Decision.Hashed ||
			e.Decision.Hashed && !slices.Equal(addresses, wanted) {
			w.t.Errorf("%+v is answered %v of %v with scope %d, but %s inside it %v of %v", q, wanted, first.Decision.Members,
				scope,
				inside, addresses, e.Decision.Members)
		}
	}
}

// exchange sends a query and returns the answer.
func (w *randomWorld) exchange(q question) *dns.Msg {
	w.t.Helper()
	m := new(dns.Msg)
	rtype := zone.AddressTypes[q.family].Number
	if q.https {
		rtype = dns.TypeHTTPS
	}
	m.SetQuestion(q.name+".", rtype)
	m.SetEdns0(1232, false)
	if q.subnet.IsValid() {
		family := uint16(1)
		if q.subnet.Addr().Is6() {
			family = 2
		}
		m.IsEdns0().Option = []dns.EDNS0{&dns.EDNS0_SUBNET{Code: dns.EDNS0SUBNET, Family: family,
			SourceNetmask: uint8(q.subnet.Bits()), Address: q.subnet.Addr().AsSlice()}}
	}
	packet, err := m.Pack()
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := w.conn.Write(packet); err != nil {
		w.t.Fatal(err)
	}
	_ = w.conn.SetReadDeadline(time.Now().Add(30 * time.Second))
	reply := make([]byte, 4096)
	n, err := w.conn.Read(reply)
	if err != nil {
		w.t.Fatal(err)
	}
	answer := new(dns.Msg)
	if err := answer.Unpack(reply[:n]); err != nil || answer.Id != m.Id {
		w.t.Fatalf("%v: %v", err, answer)
	}
	w.answers.Write(reply[2:n])
	return answer
}

func addressesOf(m *dns.Msg) (addresses []netip.Addr, ttl uint32) {
	for _, rr := range m.Answer {
		var octets net.IP
		switch rr := rr.(type) {
		case *dns.A:
			octets = rr.A.To4()
		case *dns.AAAA:
			octets = rr.AAAA
		case *dns.HTTPS:
			octets = firstHint(rr)
		default:
			continue
		}
		address, _ := netip.AddrFromSlice(octets)
		addresses, ttl = append(addresses, address), rr.Header().Ttl
	}
	return addresses, ttl
}

// firstHint returns the first hint address of an HTTPS record: the IPv6 hint if the record has no IPv4 hint.
func firstHint(rr *dns.HTTPS) net.IP {
	for _, param := range rr.Value {
		switch hint := param.(type) {
		case *dns.SVCBIPv4Hint:
			return hint.Hint[0].To4()
		case *dns.SVCBIPv6Hint:
			return hint.Hint[0]
		}
	}
	return nil
}

func scopeOf(m *dns.Msg) (scope uint8, there bool) {
	for _, o := range m.IsEdns0().Option {
		if subnet, ok := o.(*dns.EDNS0_SUBNET); ok {
			return subnet.SourceScope, true
		}
	}
	return 0, false
}
