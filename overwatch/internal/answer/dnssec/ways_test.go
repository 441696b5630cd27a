package dnssec_test

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/answer/dnssec"
	"gslb.internal/overwatch/internal/answer/dnssec/roll"
)

// rounds runs rounds of all nodes with the parent for a time.
func rounds(nodes []*roller, clock *time.Time, parent dnssec.Parent, pass time.Duration) {
	for end := clock.Add(pass); clock.Before(end); *clock = clock.Add(4 * time.Minute) {
		for _, n := range nodes {
			n.round(parent)
		}
	}
	for _, n := range nodes {
		n.round(parent)
	}
	for _, n := range nodes {
		n.signer() // as a publication does
	}
}

// asked returns the CDS and CDNSKEY records of a node, without owner, TTL and class; "unsigned" for an unsigned zone.
func (r *roller) asked() string {
	s := r.signer()
	if s == nil {
		return "unsigned"
	}
	var all []string
	for _, rr := range s.Records() {
		if kind := rr.Header().Rrtype; kind == dns.TypeCDS || kind == dns.TypeCDNSKEY {
			packed := make([]byte, 512)
			if _, err := dns.PackRR(rr, packed, 0, nil, false); err != nil {
				r.t.Fatal(err)
			}
			all = append(all, strings.Join(strings.Fields(rr.String())[3:], " "))
		}
	}
	return strings.Join(all, ", ")
}

func allAsk(t *testing.T, nodes []*roller, when, want string) {
	t.Helper()
	for _, n := range nodes {
		if got := n.asked(); got != want {
			t.Errorf("%s %s asks the parent for %q, want %q", when, n.name, got, want)
		}
	}
}

const deletes = "CDS 0 0 0 00, CDNSKEY 0 3 0 AA=="

// A zone becomes unsigned after caches have dropped its DS records. It stays unsigned after a restart, after a reload,
// and on a node without files. On the return to signing, it requests no DS record until caches have dropped unsigned
// answers.
func TestWay_ToUnsignedAndBack(t *testing.T) {
	nodes, clock := rollers(t, 3)
	n := nodes[0]
	offers := n.asked()
	has := dnssec.Parent{DS: dsOf(n.signer().DS()), TTL: 6 * time.Hour}
	none := dnssec.Parent{TTL: 6 * time.Hour, Not: "the server has none"}

	if _, err := n.zones.BeginTransition("GSLB.test", roll.ToUnsigned, roll.TTLs{DS: 6 * time.Hour}); err != nil {
		t.Fatal(err)
	}
	rounds(nodes, clock, has, 20*time.Hour)
	allAsk(t, nodes, "while the parent has DS records", deletes)
	if len(n.signer().DS()) > 0 {
		t.Error("the zone above is given a DS record")
	}
	rounds(nodes, clock, none, 5*time.Hour)
	rounds(nodes, clock, dnssec.Parent{Why: "it is silent"}, time.Hour)
	rounds(nodes, clock, none, 5*time.Hour)
	allAsk(t, nodes, "before the TTL since a break is over", deletes)
	rounds(nodes, clock, none, 150*time.Minute)
	allAsk(t, nodes, "without DS records", "unsigned")
	rounds(nodes, clock, none, 3*time.Hour)
	for _, n := range nodes {
		if r := n.zones.Rolls(); len(r) != 1 || r[0].Goal != roll.ToUnsigned || r[0].Stage != roll.Done {
			t.Errorf("%s has %+v", n.name, r)
		}
	}

	nodes[1].open()
	if _, err := nodes[2].zones.ReloadKeys(); err != nil {
		t.Fatal(err)
	}
	fresh := &roller{t: t, dir: filepath.Join(t.TempDir(), "dnssec"), name: "n4", clock: clock, other: nodes}
	fresh.open()
	for _, n := range nodes {
		n.other = append(n.other, fresh)
	}
	nodes = append(nodes, fresh)
	rounds(nodes, clock, none, time.Minute)
	allAsk(t, nodes, "later", "unsigned")

	if _, err := fresh.zones.BeginTransition(rolled, roll.ToSigned, roll.TTLs{}); err != nil {
		t.Fatal(err)
	}
	nodes[1].down = true
	up := []*roller{nodes[0], nodes[2], fresh}
	rounds(up, clock, none, 3*time.Hour)
	allAsk(t, up, "while a node is down", "")
	nodes[1].down = false
	rounds(nodes, clock, none, 100*time.Minute)
	allAsk(t, nodes, "while caches have unsigned answers", "")
	rounds(nodes, clock, none, 30*time.Minute)
	rounds(nodes, clock, none, 0)
	allAsk(t, nodes, "when they are gone", offers)
	rounds(nodes, clock, dnssec.Parent{DS: has.DS, Not: "the other server has none"}, time.Hour)
	if got := fresh.zones.Rolls()[0].Stage; got != roll.Offered {
		t.Errorf("with DS records at one server of the parent it is %s", got)
	}
	rounds(nodes, clock, has, 10*time.Minute)
	allAsk(t, nodes, "at the end", offers)
	for _, n := range nodes {
		if len(n.zones.Rolling()) > 0 {
			t.Errorf("%s has %+v", n.name, n.zones.Rolls())
		}
	}
}

// A cancellation does not offer a DS record immediately, since a node without knowledge of it may return unsigned
// answers.
func TestWay_IsTakenBack(t *testing.T) {
	nodes, clock := rollers(t, 2)
	offers := nodes[0].asked()
	has := dnssec.Parent{DS: dsOf(nodes[0].signer().DS()), TTL: time.Hour}
	if _, err := nodes[0].zones.BeginTransition(rolled, roll.ToUnsigned, roll.TTLs{DS: time.Hour}); err != nil {
		t.Fatal(err)
	}
	rounds(nodes, clock, has, time.Hour)
	*clock = clock.Add(-2 * time.Hour) // the clock of this node is behind the clock of the initiating node
	back, err := nodes[1].zones.CancelRoll(rolled)
	if err != nil || back.Goal != roll.ToSigned || back.Stage != roll.Published {
		t.Fatalf("%+v, %v", back, err)
	}
	*clock = clock.Add(2 * time.Hour)
	rounds(nodes, clock, has, time.Hour)
	allAsk(t, nodes, "just taken back", "")
	rounds(nodes, clock, has, 90*time.Minute)
	rounds(nodes, clock, has, 90*time.Minute)
	allAsk(t, nodes, "at last", offers)
	if len(nodes[0].zones.Rolling())+len(nodes[1].zones.Rolling()) > 0 {
		t.Errorf("%+v", nodes[0].zones.Rolls())
	}
}

func TestWay_SaysWhatIsNotPossible(t *testing.T) {
	nodes, clock := rollers(t, 1)
	z := nodes[0].zones
	begin := func(way roll.Goal) error {
		_, err := z.BeginTransition(rolled, way, roll.TTLs{})
		return err
	}
	if err := begin(roll.ToSigned); !errors.Is(err, dnssec.ErrSigned) {
		t.Errorf("to sign a signed zone: %v", err)
	}
	if _, err := z.BeginTransition("none.example", roll.ToUnsigned, roll.TTLs{}); !errors.Is(err, dnssec.ErrNotSigned) {
		t.Errorf("another zone: %v", err)
	}
	preview, err := z.PreviewTransition(rolled, roll.ToUnsigned, roll.TTLs{Margin: time.Minute, Answers: answerTTL})
	if err != nil || len(preview.Schedule) != 2 || len(z.Rolling()) > 0 {
		t.Errorf("preview: %+v, %v", preview, err)
	}
	if _, err := z.BeginRoll(rolled, dnssec.RollOptions{}); err != nil {
		t.Fatal(err)
	}
	*clock = clock.Add(time.Second)
	if err := begin(roll.ToUnsigned); err != nil {
		t.Errorf("while the key changes: %v", err)
	}
	if back, err := z.CancelRoll(rolled); err != nil || back.Goal != roll.ToSigned {
		t.Errorf("the later one taken back: %+v, %v", back, err)
	}
	nodes, clock = rollers(t, 1)
	z = nodes[0].zones
	if err := begin(roll.ToUnsigned); err == nil {
		err = begin(roll.ToUnsigned)
		if !errors.Is(err, dnssec.ErrRolling) {
			t.Errorf("twice: %v", err)
		}
	} else {
		t.Fatal(err)
	}
	if _, err := z.BeginRoll(rolled, dnssec.RollOptions{}); !errors.Is(err, dnssec.ErrRolling) {
		t.Errorf("a key while it goes unsigned: %v", err)
	}
	if state, err := z.ConfirmDS(rolled); err != nil || state.Confirmed.IsZero() {
		t.Errorf("confirmed: %+v, %v", state, err)
	}
	*clock = clock.Add(50 * time.Hour)
	nodes[0].round(dnssec.Parent{Why: "cut off"})
	nodes[0].signer()
	for name, err := range map[string]error{"unsigned": begin(roll.ToUnsigned),
		"a key": func() error { _, err := z.BeginRoll(rolled, dnssec.RollOptions{}); return err }()} {
		if !errors.Is(err, dnssec.ErrUnsigned) {
			t.Errorf("%s where it is unsigned: %v", name, err)
		}
	}
	if keys := z.Keys(); len(keys) != 1 || keys[0].Signing || keys[0].Offered || keys[0].State != dnssec.Retired {
		t.Errorf("its keys: %+v", keys)
	}
	if got := z.Unsigned(); !slices.Equal(got, []string{rolled}) {
		t.Errorf("unsigned: %v", got)
	}
}

// A transition waits for nodes of older versions, which report no transitions. Invalid transitions are rejected.
func TestWay_OldVersionsHoldIt(t *testing.T) {
	nodes, clock := rollers(t, 2)
	if _, err := nodes[0].zones.BeginTransition(rolled, roll.ToUnsigned, roll.TTLs{}); err != nil {
		t.Fatal(err)
	}
	rounds(nodes[:1], clock, dnssec.Parent{TTL: time.Hour}, 20*time.Hour)
	allAsk(t, nodes[:1], "with an older node", deletes)
	state := nodes[0].zones.Rolls()[0]
	if state.Wait.For != "n2 is not yet at offered" {
		t.Errorf("it waits for %q", state.Wait.For)
	}
	held, err := nodes[0].zones.Export()
	if err != nil || len(held.Rolls) > 0 || len(held.Ways) != 1 {
		t.Fatalf("it tells %+v, %v", held.Rolls, err)
	}
	for name, spoil := range map[string]func(r *dnssec.ZoneRoll){
		"a way with a key":     func(r *dnssec.ZoneRoll) { r.Target = []byte("x") },
		"a way that is none":   func(r *dnssec.ZoneRoll) { r.Goal = "up" },
		"a key among the ways": func(r *dnssec.ZoneRoll) { r.Goal, r.Target = "", []byte("x") },
		"a stage of another":   func(r *dnssec.ZoneRoll) { r.Stage = roll.Published },
		"an endless TTL":       func(r *dnssec.ZoneRoll) { r.DS = 1 << 62 },
	} {
		bad := held
		bad.Ways = slices.Clone(held.Ways)
		spoil(&bad.Ways[0])
		if _, err := nodes[1].zones.Check(bad); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}

// A zone continues without an unreachable node after an operator forces it. It waits for reachable nodes.
func TestForceRoll_GoesOnWithoutSilentNodes(t *testing.T) {
	nodes, clock := rollers(t, 3)
	z, up, gone := nodes[0].zones, nodes[:2], nodes[2]
	if _, _, err := z.ForceRoll(rolled, false); !errors.Is(err, dnssec.ErrNoRoll) {
		t.Errorf("nothing to force: %v", err)
	}
	if _, err := z.BeginTransition(rolled, roll.ToUnsigned, roll.TTLs{DS: time.Hour}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := z.ForceRoll(rolled, false); err == nil || !strings.Contains(err.Error(), "have not been queried yet") {
		t.Errorf("before a look: %v", err)
	}
	nodes[0].round(dnssec.Parent{TTL: time.Hour})
	if _, _, err := z.ForceRoll(rolled, false); err == nil || !strings.Contains(err.Error(), "is not yet at offered") {
		t.Errorf("while a node that is heard is behind: %v", err)
	}
	gone.down = true
	rounds(up, clock, dnssec.Parent{TTL: time.Hour}, 5*time.Hour)
	allAsk(t, up, "with a dead node", deletes)
	for _, preview := range []bool{true, false} {
		state, without, err := z.ForceRoll("GSLB.test", preview)
		if err != nil || state.Stage != roll.Offered || len(without) != 1 || without[0].Name != "n3" ||
			without[0].Why != "it is down" || (len(state.Without) == 0) != preview {
			t.Fatalf("preview %t: %+v, %+v, %v", preview, state, without, err)
		}
	}
	rounds(up, clock, dnssec.Parent{TTL: time.Hour}, time.Hour)
	allAsk(t, up, "without it", "unsigned")
	if got := z.Rolls()[0]; got.Stage != roll.Alone || len(got.Without) > 0 {
		t.Errorf("the next stage: %+v", got)
	}
	gone.down = false
	rounds(nodes, clock, dnssec.Parent{TTL: time.Hour}, 3*time.Hour)
	allAsk(t, nodes, "when it is back", "unsigned")
}
