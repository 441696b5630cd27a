package trust // inside: it uses clock, maxPaced and ownBurst

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"gslb.internal/shared/wire"
)

// from opens a message that was received from an address.
func (r *rig) from(address string, raw []byte) *Refusal {
	_, refusal := r.trust.Open(raw, netip.MustParseAddr(address))
	return refusal
}

// beginners enrols new agents from an address, one after the other, until one is refused. It returns the number of
// pinned agents.
func (r *rig) beginners(name, address string, most int) (int, *Refusal) {
	for i := range most {
		if refusal := r.from(address, r.agent(fmt.Sprint(name, i)).enrolment("app.test")); refusal != nil {
			return i, refusal
		}
	}
	return most, nil
}

func TestOpen_PacesNewPinsByServiceAndSource(t *testing.T) {
	r := newRig(t)
	r.trust.SetLimits(map[string]Limits{"APP.test": {MaxAgents: 1000, NewPerSecond: 2}})
	n, refusal := r.beginners("a", "192.0.2.7", 100)
	if n != 20 || refusal.Code != wire.CodeLimit || refusal.Service != "app.test" || refusal.Silent {
		t.Fatalf("%d were pinned, then %+v; want 20, and limit", n, refusal)
	}
	if n, refusal := r.beginners("b", "192.0.2.8", 5); n != 5 {
		t.Errorf("another source is refused: %v", refusal)
	}
	if refusal := r.from("192.0.2.7", r.agent("db").enrolment("db.test")); refusal != nil {
		t.Errorf("another service is refused: %v", refusal)
	}
	if n, _ := r.beginners("c", "2001:db8::1", 20); n != 20 {
		t.Errorf("%d of 20 over IPv6", n)
	}
	if n, _ := r.beginners("d", "2001:db8::2", 20); n != 0 {
		t.Errorf("%d more from the same /64", n)
	}
	r.advance(time.Second)
	if n, _ := r.beginners("e", "192.0.2.7", 100); n != 2 {
		t.Errorf("%d in the next second, want 2", n)
	}
	if n := r.trust.census.paces.Len(); n != 4 {
		t.Errorf("%d paces are kept", n)
	}
}

func TestOpen_PacesNewPinsOfAllServicesTogether(t *testing.T) {
	const asked = "asked.test"
	const many = 1 << 20
	c := newCensus(map[string]Limits{asked: {MaxAgents: many, NewPerSecond: 100}, "a.test": {MaxAgents: many},
		"b.test": {MaxAgents: many}})
	comers := 0
	// flood enrols new agents of a service, each from a different source, and returns the number of accepted agents.
	flood := func(service string, now time.Duration) (taken int) {
		for range 1500 {
			comers++
			host := HostOf(netip.AddrFrom4([4]byte{10, byte(comers >> 16), byte(comers >> 8), byte(comers)}))
			if c.admit(service, host, now) == "" {
				taken++
			}
		}
		return taken
	}
	if n := flood("a.test", 0); n != ownBurst+nodeBurst {
		t.Errorf("%d at once for one service, want %d", n, ownBurst+nodeBurst)
	}
	if n := flood("b.test", 0); n != ownBurst {
		t.Errorf("%d for a service beside the flood, want %d", n, ownBurst)
	}
	if n := flood(asked, 0); n != 1500 {
		t.Errorf("%d of 1500 for a service of which more is asked for", n)
	}
	if n := flood("b.test", 2*time.Second); n != 2*nodePerSecond+1 {
		t.Errorf("%d two seconds later, want %d", n, 2*nodePerSecond+1)
	}
	if why := c.admit("a.test", HostOf(netip.MustParseAddr("192.0.2.1")), 2*time.Second); why != "" {
		t.Errorf("a service has none of its own any more: %s", why)
	}
}

func TestOpen_PacesOfManySourcesAreBounded(t *testing.T) {
	c := newCensus(map[string]Limits{"app.test": {MaxAgents: 1 << 20, NewPerSecond: 1}})
	source := func(i int) netip.Prefix {
		return HostOf(netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}))
	}
	for i := range maxPaced {
		if why := c.admit("app.test", source(i), 0); why != "" {
			t.Fatal(why)
		}
	}
	more := 0
	for i := range 100 {
		if c.admit("app.test", source(maxPaced+i), 0) == "" {
			more++
		}
	}
	if more != newBurst || c.paces.Len() != maxPaced {
		t.Errorf("%d sources beyond the bound were admitted at once, %d paces are kept", more, c.paces.Len())
	}
	if why := c.admit("app.test", source(1<<20), time.Minute); why != "" || c.paces.Len() != 1 {
		t.Errorf("%q and %d paces after all have rested", why, c.paces.Len())
	}
}

func TestOpen_AServiceHasSoManyAgentsAndOneSourceHalfOfThem(t *testing.T) {
	r := newRig(t)
	first := r.agent("first")
	first.enrol("app.test")
	r.trust.SetLimits(map[string]Limits{"app.test": {MaxAgents: 6, NewPerSecond: 1000}})
	if n, refusal := r.beginners("a", "192.0.2.7", 100); n != 3 || refusal.Code != wire.CodeLimit {
		t.Fatalf("%d from one source, then %v; want half of 6", n, refusal)
	}
	if n, refusal := r.beginners("b", "192.0.2.8", 100); n != 2 || refusal.Code != wire.CodeLimit {
		t.Fatalf("%d more from another, then %v; want 6 in all", n, refusal)
	}
	r.taken(first.enrolment("app.test")) // has its place
	if refusal := r.from("192.0.2.7", r.agent("other").enrolment("db.test")); refusal != nil {
		t.Errorf("another service: %v", refusal)
	}
	m := r.taken(r.agent("both").enrolment("app.test", "db.test"))
	r.speaks(m.Agent, "db.test")
	if len(m.Refused) != 1 || m.Refused[0].Service != "app.test" || m.Refused[0].Code != wire.CodeLimit {
		t.Errorf("refused %+v", m.Refused)
	}
	must(t, r.trust.Revoke(t.Context(), "a0", "stolen"), r.trust.Unpin(t.Context(), "b0"))
	uses := r.trust.Usage()
	// The revoked agent never reported either.
	if len(uses) != 2 || uses[0] != (Use{Service: "app.test", Pins: 4, Limit: 6, Unreported: 5}) {
		t.Errorf("%+v", uses)
	}
	r.trust.SetLimits(map[string]Limits{"app.test": {MaxAgents: 1}})
	r.restart()
	if n := len(r.trust.Agents()); n != 7 {
		t.Errorf("%d pins after a restart with a lower limit, want all 7", n)
	}
}

func TestSweep_APinThatNeverReportsGoesByItself(t *testing.T) {
	r := newRig(t)
	silent, speaking := r.agent("silent"), r.agent("speaking")
	silent.enrol("app.test")
	speaking.enrol("app.test")
	r.taken(speaking.beat())
	var gone []string
	tell := func(ids []string) { gone = append(gone, ids...) }
	sweep := func() {
		t.Helper()
		_, now := r.trust.clock.readTime()
		must(t, r.trust.sweepPins(now, tell))
	}
	r.advance(SilentFor - time.Second)
	sweep()
	if n := len(r.trust.Agents()); n != 2 {
		t.Fatalf("%d pins before the time", n)
	}
	r.pins.setFull(true)
	r.advance(time.Second)
	if _, now := r.trust.clock.readTime(); r.trust.sweepPins(now, tell) == nil || len(r.trust.Agents()) != 2 ||
		len(gone) > 0 {
		t.Error("a pin went although that cannot be stored")
	}
	r.pins.setFull(false)
	sweep()
	if r.pins.has("silent") || len(r.trust.Agents()) != 1 || !slices.Equal(gone, []string{"silent"}) {
		t.Errorf("the pin of the silent agent is still there, or somebody else is told of: %v", gone)
	}
	r.refused(silent.beat(), ReasonUnknownKey)
	silent.enrol("app.test") // as if nothing had been
	r.restart()
	r.advance(2 * SilentFor)
	sweep()
	if got := r.trust.Select(Selection{Service: "app.test"}); !slices.Equal(got, []string{"speaking"}) {
		t.Errorf("after a restart %v are left, want the one that reported before it", got)
	}
}

// A Transition reports a backend, like a Heartbeat.
func TestSweep_ATransitionIsAReport(t *testing.T) {
	r := newRig(t)
	a := r.agent("turning")
	a.enrol("app.test")
	r.taken(a.seal(wire.TypeTransition, []byte("contents")))
	r.advance(SilentFor)
	_, now := r.trust.clock.readTime()
	must(t, r.trust.sweepPins(now, func(ids []string) { t.Errorf("the pins of %v are gone", ids) }))
	if uses := r.trust.Usage(); uses[0].Pins != 1 || uses[0].Unreported != 0 {
		t.Errorf("%+v", uses[0])
	}
}

func TestTend_TellsWhosePinsAreGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.agent("silent").enrol("app.test")
		r.advance(SilentFor)
		told, ended := make(chan []string, 1), make(chan error, 1)
		ctx, stop := context.WithCancel(t.Context())
		go func() { ended <- r.trust.DeleteSilentPins(ctx, func(ids []string) { told <- ids }) }()
		select {
		case ids := <-told:
			if !slices.Equal(ids, []string{"silent"}) || r.pins.has("silent") {
				t.Errorf("told of %v", ids)
			}
		case <-time.After(2 * sweepEvery):
			t.Error("told of nobody")
		}
		stop()
		must(t, <-ended)
	})
}

// If several Enrols prove a service, its pin counts once, and it does not count after its deletion.
func TestEnrol_AServiceThatIsProvedManyTimesCountsOnce(t *testing.T) {
	r := newRig(t)
	r.agent("many").enrol(slices.Repeat([]string{"app.test"}, wire.MaxServices)...)
	if n := r.trust.Usage()[0].Pins; n != 1 {
		t.Errorf("one pin counts as %d", n)
	}
	must(t, r.trust.Unpin(t.Context(), "many"))
	if c := r.trust.census; len(c.pins)+len(c.sources) > 0 {
		t.Errorf("without any pin there are %v, from %v", c.pins, c.sources)
	}
}

func TestUnpinSelected_TakesThoseThatAreMeant(t *testing.T) {
	r := newRig(t)
	old, silent, bad := r.agent("old"), r.agent("silent"), r.agent("bad")
	old.enrol("app.test")
	r.taken(old.beat())
	r.advance(time.Hour)
	since := r.now()
	silent.enrol("app.test")
	bad.enrol("app.test")
	r.agent("other").enrol("db.test")
	must(t, r.trust.Revoke(t.Context(), "bad", "stolen"))
	for _, s := range []Selection{{Service: "app.test", NeverReported: true}, {Service: "app.test", PinnedSince: since}} {
		if got := r.trust.Select(s); !slices.Equal(got, []string{"silent"}) {
			t.Errorf("%+v: %v", s, got)
		}
	}
	gone, err := r.trust.UnpinSelected(t.Context(), Selection{Service: "app.test", NeverReported: true},
		[]string{"bad", "nobody", "old", "silent"})
	if err != nil || !slices.Equal(gone, []string{"silent"}) {
		t.Errorf("%v, %v", gone, err)
	}
	silent.enrol("app.test")
}

// An attacker with recorded messages of an agent cannot pin it again after its pin was deleted, with others or because
// it never reported. The process of the agent can be pinned again.
func TestUnpinSelected_WhatWasSaidBeforeIsNotBelievedAgain(t *testing.T) {
	r := newRig(t)
	a, silent := r.agent("eu-web-1"), r.agent("silent")
	enrolment, beat, alone := a.enrolment("app.test"), a.beat(), silent.enrolment("app.test")
	for _, said := range [][]byte{enrolment, beat, alone} {
		r.taken(said)
	}
	r.advance(SilentFor)
	_, now := r.trust.clock.readTime()
	must(t, r.trust.sweepPins(now, func([]string) {}))
	gone, err := r.trust.UnpinSelected(t.Context(), Selection{Service: "app.test"}, []string{"eu-web-1"})
	if err != nil || len(gone) != 1 || len(r.trust.Agents()) != 0 {
		t.Fatalf("%v, %v; pinned are %v", gone, err, r.trust.Agents())
	}
	r.untold(enrolment, ReasonReplay)
	r.untold(beat, ReasonUnknownKey)
	r.untold(alone, ReasonReplay)
	a.enrol("app.test")
	silent.enrol("app.test")
	r.untold(beat, ReasonReplay)
	r.taken(a.beat())
}
