package replica_test

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"gslb.internal/overwatch/internal/state/replica"
)

// everything is a size of a Page that holds all objects.
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
	return table
}

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func TestMerge_AVersionFromTooFarAheadIsRefusedUntilItIsNot(t *testing.T) {
	fast, slow := &stopped{noon.Add(replica.MaxAhead + time.Second)}, &stopped{noon}
	a, b := open(t, "a", fast), open(t, "b", slow)
	key := replica.Key{Kind: "domain", Name: "app.example.com"}
	made := a.Put(key, json.RawMessage(`{}`))
	if m := b.Merge(a.Page(0, everything)); len(m.Refused) != 1 || len(m.Taken) != 0 || m.Synced {
		t.Errorf("it was merged: %+v", m)
	}
	slow.at = slow.at.Add(time.Second)
	if m := b.Merge(a.Page(0, everything)); len(m.Taken) != 1 || m.Taken[0].Version != made.Version || !m.Synced {
		t.Errorf("it is refused for ever: %+v", m)
	}
	if later := b.Delete(key); later.Version.Compare(made.Version) <= 0 {
		t.Errorf("%s is not after %s, which the node had seen", later.Version, made.Version)
	}
}

func TestMend_VersionsFromAheadGetThePresentTimeInTheirOrder(t *testing.T) {
	clock := &stopped{noon.Add(time.Hour)}
	wrong := open(t, "a", clock)
	first := wrong.Put(replica.Key{Kind: "domain", Name: "z"}, json.RawMessage(`1`))
	second := wrong.Put(replica.Key{Kind: "domain", Name: "a"}, json.RawMessage(`2`))
	clock.at = noon
	a := open(t, "a", clock, wrong.All()...)
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

// Two nodes that gave one object the same version, since one of them had its disk replaced, agree all the same.
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
