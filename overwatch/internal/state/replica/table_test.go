package replica_test

import (
	"encoding/json"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"gslb.internal/overwatch/internal/state/replica"
)

// everything is a page size that is sufficient for all objects.
const everything = math.MaxInt

// stopped is a clock that a test sets.
type stopped struct{ at time.Time }

func (s *stopped) now() time.Time { return s.at }

func open(t *testing.T, node string, clock *stopped, objects ...replica.Object) *replica.Table {
	t.Helper()
	table, err := replica.New(replica.Options{NodeID: node, Retention: retention, Now: clock.now, Objects: objects,
		Synced: clock.at})
	if err != nil {
		t.Fatal(err)
	}
	table.Agree(clock.at)
	return table
}

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func TestMerge_AVersionFromTooFarAheadIsRefusedUntilItIsNot(t *testing.T) {
	slow := &stopped{noon}
	a, b := wrong(t, replica.MaxAhead+time.Second), open(t, "b", slow)
	key := replica.Key{Kind: "domain", Name: "app.example.com"}
	made := a.Put(key, json.RawMessage(`{}`))
	if m := b.Merge(a.Page(0, everything)); len(m.Refused) != 1 || len(m.Taken) != 0 || m.Synced {
		t.Errorf("it was merged: %+v", m)
	}
	slow.at = slow.at.Add(time.Second)
	m := b.Merge(a.Page(0, everything))
	if len(m.Taken) != 1 || m.Taken[0].Version != made.Version || len(m.Refused) != 0 {
		t.Errorf("it is refused for ever: %+v", m)
	}
	if later := b.Delete(key); later.Version.Compare(made.Version) <= 0 {
		t.Errorf("%s is not after %s, which the node had seen", later.Version, made.Version)
	}
}

// key returns the key of a domain.
func key(name string) replica.Key { return replica.Key{Kind: "domain", Name: name} }

// reopen starts a node again with the objects of its table and another clock.
func reopen(t *testing.T, before *replica.Table, node string, clock *stopped) *replica.Table {
	t.Helper()
	marks := before.Marks()
	table, err := replica.New(replica.Options{NodeID: node, Retention: retention, Now: clock.now, Objects: before.All(),
		Synced: before.Synced(), Marks: &marks})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// wrong creates the table of a node whose clock is ahead and has not been compared with a peer's clock.
func wrong(t *testing.T, ahead time.Duration) *replica.Table {
	t.Helper()
	clock := &stopped{noon.Add(ahead)}
	table, err := replica.New(replica.Options{NodeID: "a", Retention: retention, Now: clock.now, Synced: noon,
		Marks: &replica.Marks{}})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func TestMend_VersionsFromAheadGetThePresentTimeInTheirOrder(t *testing.T) {
	before := wrong(t, time.Hour)
	first, second := before.Put(key("z"), json.RawMessage(`1`)), before.Put(key("a"), json.RawMessage(`2`))
	clock := &stopped{noon}
	a := reopen(t, before, "a", clock)
	if early := a.Mend(); len(early) != 0 {
		t.Errorf("mended before the clock agrees with a peer: %+v", early)
	}
	if a.Agree(noon.Add(-6*time.Minute)) || len(a.Mend()) != 0 {
		t.Error("mended although the clock differs from that of the peer")
	}
	a.Agree(noon.Add(time.Minute))
	mended := a.Mend()
	if len(mended) != 2 || mended[0].Key != first.Key || mended[1].Key != second.Key ||
		mended[0].Version.Compare(mended[1].Version) >= 0 || mended[1].Version.At().After(noon) {
		t.Errorf("%+v", mended)
	}
	if m := open(t, "b", clock).Merge(a.Page(0, everything)); len(m.Taken) != 2 {
		t.Errorf("others refuse them all the same: %+v", m)
	}
	if again := a.Mend(); len(again) != 0 {
		t.Errorf("mended again: %+v", again)
	}
}

// A node whose peers do not answer lowers its versions after its clock has not stepped for ten minutes, and does not
// remove deletions by this clock. A node without peers removes them.
func TestMend_ANodeAloneWaitsForASteadyClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ahead := time.Hour
		table, err := replica.New(replica.Options{NodeID: "a", Retention: retention, Marks: &replica.Marks{},
			Synced: time.Now().Add(-time.Hour),
			Now:    func() time.Time { return time.Now().Add(ahead) }})
		if err != nil {
			t.Fatal(err)
		}
		table.SetPeers(replica.PeersSilent)
		table.Delete(key("x"))
		ahead = 0
		table.Mend() // sees the step
		time.Sleep(10*time.Minute - time.Second)
		if mended := table.Mend(); len(mended) != 0 {
			t.Errorf("mended early: %+v", mended)
		}
		time.Sleep(time.Second)
		if mended := table.Mend(); len(mended) != 1 {
			t.Errorf("mended %+v", mended)
		}
		time.Sleep(2 * retention)
		if gone := table.Collect(nil); len(gone) != 0 {
			t.Errorf("forgot %v while its peers are silent", gone)
		}
		table.SetPeers(replica.NoPeers)
		if gone := table.Collect(nil); len(gone) != 1 {
			t.Errorf("forgot %v as a node without peers", gone)
		}
	})
}

func TestMend_LowersNothingOfOthersAndNothingThatOthersMayHave(t *testing.T) {
	before := wrong(t, time.Hour)
	ahead := replica.Version{Time: noon.Add(time.Hour).UnixMilli(), Node: "c"}
	theirs := replica.Object{Key: key("theirs"), Version: ahead}
	before.Merge(replica.Offer{Node: "c", Objects: []replica.Object{theirs}})
	served := before.Put(key("served"), json.RawMessage(`1`))
	offer := before.Page(0, everything)
	if _, marked := before.Unmarked(&offer, noon); marked {
		t.Error("a version that the asker refuses counts as stored there")
	}
	v, ok := before.Unmarked(&offer, noon.Add(time.Hour))
	if !ok || v != served.Version {
		t.Fatalf("the asker may store %v, %t", v, ok)
	}
	before.MarkStored(v)
	a := reopen(t, before, "a", &stopped{noon})
	a.Agree(noon)
	if mended := a.Mend(); len(mended) != 0 {
		t.Errorf("mended %+v", mended)
	}
	// Other nodes refuse these versions only until their next request, which contains the new limit.
	b := open(t, "b", &stopped{noon})
	b.Merge(a.Page(0, everything))
	if m := b.Merge(a.Page(0, everything)); len(m.Taken) != 2 || len(m.Refused) != 0 {
		t.Errorf("another node takes %+v and refuses %+v", m.Taken, m.Refused)
	}
	later := a.Delete(key("served"))
	if m := b.Merge(a.Page(0, everything)); len(m.Taken) != 1 || later.Version.Compare(served.Version) <= 0 {
		t.Errorf("the deletion %v after %v is taken as %+v", later.Version, served.Version, m)
	}
}

// A clock that is behind for a long time gives no decision a version below the version that it replaces.
func TestMend_StaysAboveWhatTheNodeHasSeen(t *testing.T) {
	clock := &stopped{noon}
	a := open(t, "a", clock)
	theirs := replica.Object{Key: key("x"), Version: replica.Version{Time: noon.UnixMilli(), Node: "c"}}
	a.Merge(replica.Offer{Node: "c", Objects: []replica.Object{theirs}})
	a = reopen(t, a, "a", clock)
	clock.at = noon.Add(20 * time.Minute)
	a.Delete(key("x"))
	a = reopen(t, a, "a", &stopped{noon.Add(-48 * time.Hour)})
	a.Agree(noon.Add(-48 * time.Hour))
	if mended := a.Mend(); len(mended) != 1 || mended[0].Version.Compare(theirs.Version) <= 0 {
		t.Errorf("mended %+v", mended)
	}
}

// A node whose clock is or was wrong at its start keeps all its deletions, and restores no deleted object.
func TestCollect_TombstonesWinUntilTheClockAgreesWithAPeer(t *testing.T) {
	clock := &stopped{noon}
	a, b := open(t, "a", clock), open(t, "b", clock)
	b.Put(key("x"), json.RawMessage(`1`))
	a.Merge(b.Page(0, everything))
	a.Delete(key("x"))
	a = reopen(t, a, "a", &stopped{noon.Add(40 * 24 * time.Hour)})
	if gone := a.Collect(nil); len(gone) != 0 {
		t.Errorf("forgot %v", gone)
	}
	if m := a.Merge(b.Page(0, everything)); len(m.Taken) != 0 {
		t.Errorf("the deletion was taken back: %+v", m.Taken)
	}
	b.Merge(a.Page(0, everything))
	if got, _ := b.Get(key("x")); !got.Deleted {
		t.Errorf("the other node has %+v", got)
	}
	a.Agree(noon.Add(40 * 24 * time.Hour))
	if gone := a.Collect(nil); len(gone) != 0 {
		t.Errorf("forgot %v before it has met its peer", gone)
	}
	a.Met()
	if gone := a.Collect(nil); len(gone) != 1 {
		t.Errorf("forgot %v by a clock that agrees with a peer", gone)
	}
}

// An old object that this node lacks may have been deleted on this node. While the clock may be wrong, the node cannot
// decide this.
func TestMerge_OldObjectsWaitForAClockThatAgrees(t *testing.T) {
	clock := &stopped{noon}
	a := open(t, "a", clock)
	a = reopen(t, a, "a", &stopped{noon.Add(400 * 24 * time.Hour)})
	a.Put(key("own"), json.RawMessage(`1`))
	old := replica.Object{Key: key("x"), Version: replica.Version{Time: noon.UnixMilli(), Node: "b"},
		Value: json.RawMessage(`1`)}
	offer := replica.Offer{Node: "b", Whole: true, Synced: noon, Objects: []replica.Object{old}}
	if m := a.Merge(offer); len(m.Postponed) != 1 || len(m.Taken)+len(m.Dropped) != 0 || m.Synced {
		t.Errorf("by a wrong clock: %+v", m)
	}
	a = reopen(t, a, "a", clock)
	a.Agree(noon)
	if m := a.Merge(offer); len(m.Taken) != 1 || len(m.Dropped) != 0 || !m.Synced {
		t.Errorf("by a clock that agrees: %+v", m)
	}
}

func TestDifferences_CountsWhatDiffersAndIgnoresOldDeletions(t *testing.T) {
	clock := &stopped{noon}
	a, b := open(t, "a", clock), open(t, "b", clock)
	a.Put(key("one"), json.RawMessage(`1`))
	b.Put(key("two"), json.RawMessage(`2`))
	both := a.Put(key("both"), json.RawMessage(`3`))
	b.Merge(replica.Offer{Node: "a", Objects: []replica.Object{both}})
	b.Delete(key("gone"))
	never := func(*replica.Object) bool { return false }
	if count, first := a.Differences(b.All(), never); count != 3 || first != key("gone") {
		t.Errorf("%d differ, the first is %v", count, first)
	}
	clock.at = noon.Add(retention)
	if count, first := a.Differences(b.All(), never); count != 2 || first != key("one") {
		t.Errorf("%d differ, the first is %v", count, first)
	}
}

func TestMerge_WhatIsUnknownIsKeptAndPassedOnAsItIs(t *testing.T) {
	clock := &stopped{noon}
	a, b, c := open(t, "a", clock), open(t, "b", clock), open(t, "c", clock)
	value := `{"of": "a later release",  "n": 1.0}`
	made := a.Put(replica.Key{Kind: "canary", Name: "x"}, json.RawMessage(value))
	b.Merge(a.Page(0, everything))
	c.Merge(b.Page(0, everything))
	if got, ok := c.Get(made.Key); !ok || string(got.Value) != value || got.Version != made.Version {
		t.Errorf("it arrives as %s", got.Value)
	}
	if a.Digest() != c.Digest() {
		t.Error("equal tables have different digests")
	}
}

func TestMerge_TellsWhichDecisionOfThisNodeWasOvertaken(t *testing.T) {
	clock := &stopped{noon}
	a, b := open(t, "a", clock), open(t, "b", clock)
	key := replica.Key{Kind: "domain", Name: "app.example.com"}
	early := a.Put(key, json.RawMessage(`1`))
	clock.at = clock.at.Add(time.Second)
	late := b.Put(key, json.RawMessage(`2`))
	if m := a.Merge(b.Page(0, everything)); len(m.Lost) != 1 || m.Lost[0].Version != early.Version {
		t.Errorf("%+v", m)
	}
	if m := b.Merge(a.Page(0, everything)); len(m.Taken)+len(m.Lost) != 0 {
		t.Errorf("%s took its place: %+v", late.Version, m)
	}
}

func TestOffer_HasOnlyWhatCameAfterTheLastOne(t *testing.T) {
	clock := &stopped{noon}
	a := open(t, "a", clock)
	a.Put(replica.Key{Kind: "domain", Name: "one"}, json.RawMessage(`1`))
	first := a.Page(0, everything)
	two := a.Put(replica.Key{Kind: "domain", Name: "two"}, json.RawMessage(`2`))
	next := a.Page(first.Changes, everything)
	if !first.Whole || next.Whole || len(next.Objects) != 1 || next.Objects[0].Key != two.Key {
		t.Errorf("%+v, then %+v", first, next)
	}
}

// Two nodes that assigned the same version to one object, because the disk of one was replaced, still agree.
func TestMerge_TheSameVersionTwiceEndsAlike(t *testing.T) {
	clock := &stopped{noon}
	key := replica.Key{Kind: "domain", Name: "app.example.com"}
	version := replica.Version{Time: noon.UnixMilli(), Node: "a"}
	for _, other := range []replica.Object{{Key: key, Version: version, Deleted: true},
		{Key: key, Version: version, Value: json.RawMessage(`2`)}} {
		a := open(t, "a", clock, replica.Object{Key: key, Version: version, Value: json.RawMessage(`1`)})
		b := open(t, "b", clock, other)
		a.Merge(b.Page(0, everything))
		b.Merge(a.Page(0, everything))
		if got, _ := a.Get(key); got.Deleted != other.Deleted || string(got.Value) != string(other.Value) ||
			a.Digest() != b.Digest() {
			t.Errorf("a has %+v", got)
		}
	}
}

func TestNew_RefusesARetentionThatClocksMakeMeaningless(t *testing.T) {
	for _, o := range []replica.Options{{NodeID: "a", Retention: time.Minute}, {Retention: retention}} {
		if _, err := replica.New(o); err == nil {
			t.Errorf("%+v was accepted", o)
		}
	}
}
