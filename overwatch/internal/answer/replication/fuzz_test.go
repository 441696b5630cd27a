package replication // inside: it uses clockedInstance, gathered, instanceOf, parseMessage and maxPages

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"gslb.internal/overwatch/internal/state/replica"
	"gslb.internal/overwatch/internal/state/store"
)

// FuzzParseMessage takes messages of a peer that has the secret: whatever it sends, the store takes the sound part of
// it, and others can be offered all that is stored.
func FuzzParseMessage(f *testing.F) {
	s, err := store.Open(f.TempDir(), store.Options{NodeID: "a"})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = s.Close() })
	for _, seed := range []string{
		`{"instance":"x","time":"2026-01-01T00:00:00Z","digest":"00","has":true,"offer":{"node":"b","changes":7,` +
			`"whole":true,"synced":"2026-01-01T00:00:00Z","objects":[{"kind":"domain","name":"a.example",` +
			`"version":{"time":1,"node":"b"},"value":{"name":"a.example"}},` +
			`{"kind":"","name":"\u0000","version":{"time":-1,"node":""},"deleted":true}]}}`,
		`{"offer":{"node":"b","more":true,"objects":null}}`,
		`{"offer":{"node":"b","objects":[{"kind":"revocation","name":"x","version":{"time":9,"node":"b"},"deleted":true}]}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, plain []byte) {
		m, err := parseMessage(plain)
		if err != nil {
			return
		}
		if err := new(gathered).add(m, 0); err != nil {
			return
		}
		if _, err := s.Merge(m.Offer, nil); err != nil {
			t.Fatalf("%q: %v", plain, err)
		}
		for _, o := range s.Objects() {
			if err := o.Check(); err != nil {
				t.Fatalf("%q: stored %+v: %v", plain, o, err)
			}
		}
		offer, err := s.Page(0, pageSize, time.Time{})
		if _, err2 := json.Marshal(offer); errors.Join(err, err2) != nil {
			t.Fatalf("%q: %v", plain, err)
		}
	})
}

// Each bound ends an exchange.
func TestGathered_EachBoundCounts(t *testing.T) {
	page := func(objects, octets int, changes uint64) *message {
		return &message{size: octets, Offer: replica.Offer{More: true, Changes: changes,
			Objects: make([]replica.Object, objects)}}
	}
	for name, c := range map[string]struct {
		objects, octets int
		pages           uint64 // that are taken
	}{
		"pages":   {1, 1, maxPages},
		"objects": {maxObjects / 10, 1, 10},
		"octets":  {1, maxExchange / 10, 10},
	} {
		var g gathered
		taken := uint64(0)
		for g.add(page(c.objects, c.octets, taken+1), taken) == nil {
			taken++
		}
		if taken != c.pages {
			t.Errorf("%s: %d pages are taken", name, taken)
		}
	}
}

// Octets beyond a whole exchange have to wait.
func TestPace_OctetsAreBounded(t *testing.T) {
	var p pace
	now := time.Now()
	if wait := p.delay(now, maxExchange); wait > time.Second {
		t.Errorf("after the first exchange: %s", wait)
	}
	if wait := p.delay(now, maxExchange); wait < 25*time.Second || wait > 40*time.Second {
		t.Errorf("after the second exchange: %s", wait)
	}
}

// FuzzInstanceOf takes the parameter instance of a peer's request. A clock that is read is written in the same way.
func FuzzInstanceOf(f *testing.F) {
	f.Add(clockedInstance("ABC", askerClock{time.UnixMilli(1), time.UnixMilli(2)}))
	f.Add("ABC~1")
	f.Fuzz(func(t *testing.T, text string) {
		instance, clock := instanceOf(text)
		if len(instance) > len(text) {
			t.Errorf("%q has the instance %q", text, instance)
		}
		again, same := instanceOf(clockedInstance(instance, clock))
		if clock != (askerClock{}) && (again != instance || same != clock) {
			t.Errorf("%q is %q %v, and then %q %v", text, instance, clock, again, same)
		}
	})
}
