package trust // inside: it uses clock, departed and windows

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/identity"
	"gslb.internal/shared/wire"
)

func TestRevoke_IsInEffectAtOnceAndForEver(t *testing.T) {
	r := newRig(t)
	a := r.agent("eu-web-1")
	held := a.enrol("app.test").Agent
	must(t, r.trust.Revoke(t.Context(), "eu-web-1", "key stolen"))
	r.speaks(held)
	if held.MaySpeakFor("app.test") {
		t.Error("an Agent that was handed out before still speaks")
	}
	if refusal := r.told(a.beat(), wire.CodeRevoked); refusal.Detail != "key stolen" {
		t.Errorf("detail %q", refusal.Detail)
	}
	r.told(a.enrolment("app.test"), wire.CodeRevoked)
	r.restart()
	r.told(a.again().enrolment("app.test"), wire.CodeRevoked)
	r.told(a.beat(), wire.CodeRevoked)
	r.told(r.agent("eu-web-1").enrolment("app.test"), wire.CodeRevoked) // a new certificate does not help
	record, _ := r.trust.Get("eu-web-1")
	if !record.Revoked || record.RevokedReason != "key stolen" || !record.RevokedAt.Equal(noon) ||
		record.Status != StatusRevoked || len(record.Services) != 0 {
		t.Errorf("record %+v", record)
	}
	if r.lines("agent revoked") != 1 {
		t.Errorf("logged %s", r.logged.String())
	}
}

func TestRevoke_EndsWithTheDeletionOfTheEntry(t *testing.T) {
	r := newRig(t)
	a := r.agent("eu-web-1")
	a.enrol("app.test")
	must(t, r.trust.Revoke(t.Context(), "eu-web-1", ""), r.trust.Unpin(t.Context(), "eu-web-1"))
	if m := a.again().enrol("app.test"); !m.NewlyPinned {
		t.Error("not pinned")
	}
}

func TestRevoke_TwiceKeepsTheFirst(t *testing.T) {
	r := newRig(t)
	r.agent("eu-web-1").enrol("app.test")
	must(t, r.trust.Revoke(t.Context(), "eu-web-1", "first"))
	r.advance(time.Hour)
	must(t, r.trust.Revoke(t.Context(), "eu-web-1", "second"))
	if record, _ := r.trust.Get("eu-web-1"); record.RevokedReason != "first" || !record.RevokedAt.Equal(noon) {
		t.Errorf("record %+v", record)
	}
}

func TestRevoke_HoldsEvenWhenItCannotBeStoredAndSaysSo(t *testing.T) {
	r := newRig(t)
	a := r.agent("eu-web-1")
	a.enrol("app.test")
	r.pins.setFull(true)
	err := r.trust.Revoke(t.Context(), "eu-web-1", "stolen")
	if !errors.Is(err, store.ErrNotDurable) || !strings.Contains(err.Error(), "until this node restarts") {
		t.Errorf("error is %v", err)
	}
	r.told(a.beat(), wire.CodeRevoked)
	r.pins.setFull(false)
	must(t, r.trust.Revoke(t.Context(), "eu-web-1", "again"))
	r.restart()
	r.told(a.enrolment("app.test"), wire.CodeRevoked)
}

func TestUnpin_IsInEffectAtOnce(t *testing.T) {
	r := newRig(t)
	a := r.agent("eu-web-1")
	held := a.enrol("app.test").Agent
	must(t, r.trust.Unpin(t.Context(), "eu-web-1"))
	if _, there := r.trust.Get("eu-web-1"); there || r.pins.has("eu-web-1") {
		t.Error("still pinned")
	}
	r.speaks(held)
	r.told(a.beat(), wire.CodeNotEnrolled)
	if r.lines("pin deleted") != 1 {
		t.Errorf("logged %s", r.logged.String())
	}
}

// The operator deletes the pin, then the files of the agent, and then restarts the agent. Between these steps, the old
// process must not pin its old certificate again.
func TestUnpin_TheRunningProcessCannotEnrolAgainButTheNextCan(t *testing.T) {
	r := newRig(t)
	a := r.agent("eu-web-1")
	recorded := a.enrolment("app.test")
	r.taken(recorded)
	must(t, r.trust.Unpin(t.Context(), "eu-web-1"))
	r.told(recorded, wire.CodeNotEnrolled)
	if refusal := r.told(a.enrolment("app.test"), wire.CodeNotEnrolled); !strings.Contains(refusal.Detail,
		"restart the agent") {
		t.Errorf("detail %q", refusal.Detail)
	}
	next := a.again() // with the same files, as after a change of the token
	if m := next.enrol("app.test"); !m.NewlyPinned {
		t.Error("not pinned")
	}
	r.taken(next.beat())
	must(t, r.trust.Unpin(t.Context(), "eu-web-1")) // a second unpin
	r.told(next.enrolment("app.test"), wire.CodeNotEnrolled)
	next.again().enrol("app.test")
}

// The operator deletes the pin while the storage of the agent's enrolment is pending.
func TestUnpin_OvertakesAnEnrolThatIsUnderWay(t *testing.T) {
	r := newRig(t)
	a := r.agent("eu-web-1")
	a.enrol("app.test")
	unlock := r.trust.lockAgent("eu-web-1")
	raw := a.enrolment("db.test")
	outcome := make(chan *Refusal)
	go func() {
		_, refusal := r.trust.Open(raw, netip.MustParseAddr("192.0.2.1"))
		outcome <- refusal
	}()
	must(t, r.pins.DeletePin("eu-web-1"))
	r.trust.dropPin(r.trust.findAgent("eu-web-1"), time.Time{})
	unlock()
	if refusal := <-outcome; refusal == nil || refusal.Code != wire.CodeNotEnrolled {
		t.Errorf("outcome is %v", refusal)
	}
	if r.pins.has("eu-web-1") {
		t.Error("pinned again")
	}
}

func TestUnpin_ThatCannotBeStoredChangesNothing(t *testing.T) {
	r := newRig(t)
	a := r.agent("eu-web-1")
	a.enrol("app.test")
	r.pins.setFull(true)
	if err := r.trust.Unpin(t.Context(), "eu-web-1"); !errors.Is(err, store.ErrNotDurable) {
		t.Errorf("error is %v", err)
	}
	r.taken(a.beat())
}

func TestAdmin_UnknownAgentsAndEndedContexts(t *testing.T) {
	r := newRig(t)
	for _, err := range []error{r.trust.Unpin(t.Context(), "nobody"), r.trust.Revoke(t.Context(), "nobody", "")} {
		if !errors.Is(err, ErrNotPinned) || !strings.Contains(err.Error(), "nobody") {
			t.Errorf("error is %v", err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r.agent("eu-web-1").enrol("app.test")
	if errors.Join(r.trust.Unpin(ctx, "eu-web-1")) == nil || r.trust.Revoke(ctx, "eu-web-1", "") == nil {
		t.Error("a change for a caller who is gone")
	}
	if r.services("eu-web-1") == nil {
		t.Error("changed")
	}
}

func TestUnpin_RemembersABoundedNumber(t *testing.T) {
	var d departed
	key := func(i int) identity.KeyID { return identity.KeyID{byte(i), byte(i >> 8)} }
	for i := range 2 * maxDeparted {
		d.addDeparture(departure{key: key(i)})
	}
	if len(d.list) != maxDeparted || d.findDeparture(key(0)) != nil || d.findDeparture(key(2*maxDeparted-1)) == nil {
		t.Errorf("remembers %d", len(d.list))
	}
	w := make(windows)
	for i := range maxWindows + 2 {
		w.storeWindow(identity.KeyID{byte(i), byte(i >> 8), byte(i >> 16)}, identity.Window{})
	}
	if _, last := w[identity.KeyID{1, 0, 1}]; len(w) != maxWindows || !last { // 65537
		t.Errorf("remembers %d windows, the last: %v", len(w), last)
	}
}

// Fault 30.
func TestSetTokens_AChangedTokenMustBeProvedAgain(t *testing.T) {
	r := newRig(t)
	a, b := r.agent("eu-web-1"), r.agent("eu-web-2")
	held := a.enrol("app.test", "db.test").Agent
	b.enrol("db.test")
	changed := r.trust.SetTokens(map[string][]string{"app.test": {"another token, 0123456789 0123456789"},
		"db.test": {dbToken}}, rigPolicies)
	if !slices.Equal(changed, []string{"eu-web-1"}) {
		t.Errorf("changed %v", changed)
	}
	r.speaks(held, "db.test")
	r.speaks(r.taken(a.beat()).Agent, "db.test")
	m := a.enrol("app.test", "db.test") // with the old token
	r.speaks(m.Agent, "db.test")
	if len(m.Refused) != 1 || m.Refused[0] != (wire.RefusedClaim{Service: "app.test", Code: wire.CodeWrongToken}) {
		t.Errorf("refused %+v", m.Refused)
	}
	r.speaks(a.enrol("app.test=another token, 0123456789 0123456789").Agent, "app.test", "db.test")
	r.speaks(held, "app.test", "db.test")
}

// Fault 30.
func TestSetTokens_APreviousTokenCountsUntilItIsDropped(t *testing.T) {
	const next = "another token, 0123456789 0123456789"
	r := newRig(t)
	a, late := r.agent("eu-web-1"), r.agent("eu-web-2")
	held := a.enrol("app.test", "db.test").Agent
	overlap := map[string][]string{"app.test": {next, appToken}, "db.test": {dbToken}}
	outdated := func(id string, want bool) {
		t.Helper()
		if record, _ := r.trust.Get(id); record.Outdated != want {
			t.Errorf("%s speaks by a previous token: %t", id, record.Outdated)
		}
	}
	if changed := r.trust.SetTokens(overlap, rigPolicies); len(changed) != 0 {
		t.Errorf("changed %v", changed)
	}
	r.speaks(held, "app.test", "db.test")
	outdated("eu-web-1", true)
	r.speaks(late.enrol("app.test").Agent, "app.test") // new, and still with the old token
	r.tokens = overlap
	r.restart()
	a.again().enrol("app.test=" + next)
	outdated("eu-web-1", false)
	outdated("eu-web-2", true)
	if changed := r.trust.SetTokens(map[string][]string{"app.test": {next}, "db.test": {dbToken}},
		rigPolicies); !slices.Equal(changed, []string{"eu-web-2"}) {
		t.Errorf("changed %v", changed)
	}
	r.told(late.again().enrolment("app.test"), wire.CodeWrongToken)
}

// Fault 30.
func TestSetTokens_APolicyThatChangedIsToldOfTheAgentsThatItConcerns(t *testing.T) {
	r := newRig(t)
	a, b := r.agent("eu-web-1"), r.agent("eu-web-2")
	a.enrol("app.test")
	held := b.enrol("app.test", "db.test").Agent
	inside, outside := netip.MustParseAddrPort("10.0.0.1:80"), netip.MustParseAddrPort("192.0.2.1:80")
	if !held.Allowed("db.test", inside) || held.Allowed("db.test", outside) ||
		!r.trust.Allowed("eu-web-2", "db.test", inside) {
		t.Fatal("the policy is not what this test takes it for")
	}
	other := map[string][]netip.Prefix{"db.test": {netip.MustParsePrefix("192.0.2.0/24")}}
	if changed := r.trust.SetTokens(r.tokens, other); !slices.Equal(changed, []string{"eu-web-2"}) {
		t.Errorf("changed %v", changed)
	}
	if r.trust.Allowed("eu-web-2", "db.test", inside) || !r.trust.Allowed("eu-web-2", "db.test", outside) ||
		r.trust.Allowed("eu-web-1", "db.test", outside) ||
		r.trust.Allowed("eu-web-3", "app.test", outside) {
		t.Error("the new policy is not in force")
	}
	if changed := r.trust.SetTokens(r.tokens, other); len(changed) != 0 {
		t.Errorf("changed %v by the same", changed)
	}
	if lines := r.lines("tokens changed"); lines != 0 {
		t.Errorf("%d lines tell of tokens, none changed", lines)
	}
}

// Fault 30.
func TestSetTokens_ARemovedTokenSilencesItsAgentsUntilItIsBack(t *testing.T) {
	r := newRig(t)
	a := r.agent("eu-web-1")
	a.enrol("app.test")
	if changed := r.trust.SetTokens(map[string][]string{"db.test": {dbToken}}, nil); !slices.Equal(changed,
		[]string{"eu-web-1"}) {
		t.Errorf("changed %v", changed)
	}
	r.told(a.beat(), wire.CodeNotEnrolled)
	r.told(a.enrolment("app.test"), wire.CodeUnknownService)
	r.tokens = map[string][]string{"db.test": {dbToken}}
	r.restart()
	r.told(a.again().beat(), wire.CodeNotEnrolled) // even after a restart
	r.trust.SetTokens(map[string][]string{"app.test": {appToken}}, nil)
	r.speaks(r.taken(a.again().again().beat()).Agent, "app.test")
}

// Fault 30.
func TestSetTokens_WithTheSameTokensChangesNothing(t *testing.T) {
	r := newRig(t)
	a := r.agent("eu-web-1")
	a.enrol("app.test")
	if changed := r.trust.SetTokens(map[string][]string{"APP.test": {appToken}}, nil); len(changed) != 0 {
		t.Errorf("changed %v", changed)
	}
	r.taken(a.beat())
}

func TestRecords_AreOrderedAndSayWhenTheyExpire(t *testing.T) {
	r := newRig(t)
	r.agent("b").enrol("app.test")
	r.agent("c").enrol("app.test")
	r.advance(300 * 24 * time.Hour)
	r.agent("a").enrol("db.test", "app.test")
	must(t, r.trust.Revoke(t.Context(), "c", ""))
	records := r.trust.Agents()
	var ids []string
	for _, record := range records {
		ids = append(ids, record.AgentID)
	}
	if !slices.Equal(ids, []string{"a", "b", "c"}) || !slices.Equal(records[0].Services, []string{"app.test", "db.test"}) {
		t.Errorf("records %+v", records)
	}
	if hours := records[1].ExpiresInHours; hours < 64*24 || hours > 65*24 {
		t.Errorf("expires in %v hours", hours)
	}
	r.advance(70 * 24 * time.Hour)
	if record, _ := r.trust.Get("b"); record.Status != StatusExpired || record.ExpiresInHours > 0 {
		t.Errorf("record %+v", record)
	}
}

func TestNew_RefusesToBeBuiltWithoutItsParts(t *testing.T) {
	if _, err := New(Options{Boot: identity.NewNonce()}); err == nil {
		t.Error("without a store")
	}
	if _, err := New(Options{Pins: &memory{}}); err == nil {
		t.Error("without a boot nonce")
	}
}

func TestNew_APinThatCannotBeReadStaysPinnedForNobody(t *testing.T) {
	r := newRig(t)
	must(t, r.pins.PutPin(store.Pin{AgentID: "eu-web-1", CertificateDER: []byte("not a certificate")}))
	r.restart()
	r.told(r.agent("eu-web-1").enrolment("app.test"), wire.CodePinMismatch)
	if record, there := r.trust.Get("eu-web-1"); !there || record.Status != StatusExpired {
		t.Errorf("record %+v", record)
	}
	must(t, r.trust.Unpin(t.Context(), "eu-web-1"))
	r.agent("eu-web-1").enrol("app.test")
}

// Fault 11.
func TestClock_AJumpIsNotBelievedForFiveMinutes(t *testing.T) {
	for _, jump := range []time.Duration{400 * 24 * time.Hour, -10 * 365 * 24 * time.Hour} {
		t.Run(jump.String(), func(t *testing.T) {
			r := newRig(t)
			a := r.agent("eu-web-1")
			a.enrol("app.test")
			r.jump(jump)
			r.taken(a.beat())
			r.advance(settleTime - time.Second)
			r.taken(a.beat())
			if got := r.trust.ClockJump(); got != jump {
				t.Errorf("the clock is said to be %s ahead, want %s", got, jump)
			}
			if r.lines("the clock stepped") != 1 {
				t.Errorf("logged %s", r.logged.String())
			}
			r.advance(2 * time.Second)
			if got := r.trust.ClockJump(); got != 0 {
				t.Errorf("5 minutes later the clock is still said to be %s ahead", got)
			}
			code := wire.CodeExpired
			if jump < 0 {
				code = wire.CodeNotYetValid
			}
			r.told(a.beat(), code)
		})
	}
}

// Fault 11.
func TestClock_AJumpThereAndBackChangesNothing(t *testing.T) {
	r := newRig(t)
	a := r.agent("eu-web-1")
	a.enrol("app.test")
	r.jump(400 * 24 * time.Hour)
	r.taken(a.beat())
	r.jump(-400 * 24 * time.Hour)
	r.taken(a.beat())
	r.advance(time.Hour)
	r.taken(a.beat())
	if r.lines("the clock is stable;") != 1 {
		t.Errorf("logged %s", r.logged.String())
	}
}

// jump changes the wall clock and not the monotonic clock.
func (r *rig) jump(d time.Duration) {
	c, passed := r.trust.clock, r.trust.clock.elapsed
	c.elapsed = func(reading time.Time) time.Duration { return passed(reading) - d }
	r.advance(d)
}

func TestOpen_FromManyGoroutinesWhileTheOperatorChangesThings(t *testing.T) {
	r := newRig(t)
	var agents []*sender
	for i := range 8 {
		agents = append(agents, r.agent(fmt.Sprintf("agent-%d", i)))
	}
	var all sync.WaitGroup
	for _, a := range agents {
		all.Go(func() {
			for range 20 {
				next := a.again()
				a.epoch, a.seq = next.epoch, 0
				r.trust.Open(a.enrolment("app.test", "db.test"), netip.MustParseAddr("192.0.2.1"))
				for range 5 {
					if m, refusal := r.trust.Open(a.beat(), netip.MustParseAddr("192.0.2.1")); refusal == nil {
						m.Agent.Services()
						m.Agent.MaySpeakFor("app.test")
					}
				}
			}
		})
		all.Go(func() {
			for range 5 {
				r.trust.Unpin(t.Context(), a.id.CommonName)
				r.trust.Revoke(t.Context(), a.id.CommonName, "")
			}
			r.trust.Unpin(t.Context(), a.id.CommonName)
		})
	}
	all.Go(func() {
		for range 10 {
			r.trust.SetTokens(map[string][]string{"app.test": {appToken}}, nil)
			r.trust.SetTokens(map[string][]string{"app.test": {appToken}, "db.test": {dbToken}}, nil)
			r.trust.Agents()
		}
	})
	all.Wait()
	for _, a := range agents {
		r.trust.Unpin(t.Context(), a.id.CommonName)
		next := a.again()
		next.enrol("app.test")
		r.taken(next.beat())
	}
	stored, err := r.pins.LoadPins()
	if err != nil || len(stored) != len(agents) || len(r.trust.Agents()) != len(agents) {
		t.Errorf("%d stored, %d known, %v", len(stored), len(r.trust.Agents()), err)
	}
}

// Two certificates enrol under one id at the same time: exactly one is pinned.
func TestEnrol_RaceForOneIDHasOneWinner(t *testing.T) {
	for range 20 {
		r := newRig(t)
		one, two := r.agent("eu-web-1"), r.agent("eu-web-1")
		messages := [][]byte{one.enrolment("app.test"), two.enrolment("app.test")}
		won := make(chan bool, 2)
		for _, m := range messages {
			go func() {
				_, refusal := r.trust.Open(m, netip.MustParseAddr("192.0.2.1"))
				won <- refusal == nil
			}()
		}
		if first, second := <-won, <-won; first == second {
			t.Fatalf("first won: %v, second won: %v", first, second)
		}
	}
}

// Pages of pinned agents are in the order of their ids after any sequence of pins and unpins, and the counts equal the
// number of records.
func TestTrust_PagesAndCountsFollowWhatIsPinned(t *testing.T) {
	r := newRig(t)
	ids := []string{"c", "a", "e", "b", "d"}
	for _, id := range ids {
		r.agent(id).enrol("app.test")
	}
	if err := r.trust.Unpin(t.Context(), "b"); err != nil {
		t.Fatal(err)
	}
	if err := r.trust.Revoke(t.Context(), "d", "test"); err != nil {
		t.Fatal(err)
	}
	page := func(offset, limit int) (got string) {
		records, total := r.trust.Page(offset, limit)
		for _, record := range records {
			got += record.AgentID
		}
		if total != 4 {
			t.Errorf("%d in all, want 4", total)
		}
		return got
	}
	for want, got := range map[string]string{"acde": page(0, 10), "cd": page(1, 2), "": page(9, 2)} {
		if got != want {
			t.Errorf("a page has %q, want %q", got, want)
		}
	}
	if got, want := r.trust.Count(time.Hour), (Counts{Valid: 3, Revoked: 1}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := r.trust.Count(100 * 365 * 24 * time.Hour).Expiring; got != 3 {
		t.Errorf("%d end within a century, want 3", got)
	}
}
