package replication // inside: it uses clockedInstance, gathered, instanceOf, parseMessage, rejection and maxPages

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/state/replica"
	"gslb.internal/overwatch/internal/state/store"
)

// FuzzParseMessage parses messages of a peer with the secret. The store accepts the valid part of any message, and all
// stored objects can be offered to other nodes.
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

// The fields of a message have a maximum length, so that a peer can neither use all memory of a node nor make the node
// store or forward a text of any length.
func TestParseMessage_BoundsEachField(t *testing.T) {
	long, many := strings.Repeat("x", 300), strings.Repeat(",{}", maxPageObjects)
	for name, c := range map[string]struct{ text, want string }{
		"sound":            {`{"instance":"I","offer":{"node":"b","final":{"time":1,"node":"c"},"objects":[]}}`, ""},
		"no final version": {`{"instance":"I","offer":{"node":"b","final":{"time":0,"node":""},"objects":null}}`, ""},
		"final":            {`{"offer":{"node":"b","final":{"time":1,"node":"` + long + `"}}}`, "latest version"},
		"instance":         {`{"instance":"` + long + `","offer":{"node":"b"}}`, "cannot be read"},
		"node":             {`{"offer":{"node":"` + long + `"}}`, "its node id"},
		"objects":          {`{"offer":{"node":"b","objects":[{}` + many + `]}}`, "objects in a page"},
		"no list":          {`{"offer":{"node":"b","objects":{}}}`, ""},
		"wrong objects":    {`{"offer":{"node":"b","objects":[7]}}`, "cannot be read"},
	} {
		m, err := parseMessage([]byte(c.text))
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil && (m.Offer.Node != "b" || len(m.Offer.Objects) > 0) {
			t.Errorf("%s: %+v", name, m.Offer)
		}
	}
	m, err := parseMessage([]byte(`{"instance":"I","offer":{"node":"b","changes":7,"objects":[{"kind":"domain","name":` +
		`"a.example"},{"kind":"domain","name":"b.example"}]},"facts":{"serving":["` + long + `"` +
		strings.Repeat(`,"a.example"`, 2*maxServing) + `]}}`))
	if err != nil || m.Instance != "I" || m.Offer.Changes != 7 || len(m.Offer.Objects) != 2 ||
		m.Offer.Objects[1].Name != "b.example" || len(m.Facts.Serving) != maxServing || m.Facts.Serving[0] != "a.example" {
		t.Errorf("%+v, %v", m, err)
	}
}

// A peer that sends a rejected object every minute causes one log line, until the reason is another.
func TestNoteRejected_LogsAnObjectOnce(t *testing.T) {
	var log bytes.Buffer
	r := &Replication{o: Options{Logger: zerolog.New(&log)}, rejected: map[replica.Key]rejection{}}
	p := &peer{url: "http://h", trail: newTrail()}
	for _, reason := range []string{"too large", "too large", "too small"} {
		m := replica.Merged{Rejected: []replica.Rejection{{Object: replica.Object{Key: replica.Key{Kind: "domain",
			Name: "a.example"}}, Reason: errors.New(reason)}}}
		r.noteRejected(p, "h", true, &m)
	}
	if lines := strings.Count(log.String(), "\n"); lines != 2 || p.rejected != 3 {
		t.Errorf("%d lines: %s", lines, log.String())
	}
}

// Each limit ends an exchange.
func TestGathered_EachBoundCounts(t *testing.T) {
	page := func(objects, octets int, changes uint64) *message {
		return &message{size: octets, Offer: replica.Offer{More: true, Changes: changes,
			Objects: make([]replica.Object, objects)}}
	}
	for name, c := range map[string]struct {
		objects, octets int
		pages           uint64 // number of accepted pages
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

// Octets of more than one complete exchange must wait.
func TestExchangeLimit_OctetsAreBounded(t *testing.T) {
	l := newExchangeLimit()
	now := time.Now()
	if wait := l.countExchange(now, maxExchange); wait > time.Second {
		t.Errorf("after the first exchange: %s", wait)
	}
	if wait := l.countExchange(now, maxExchange); wait < 25*time.Second || wait > 40*time.Second {
		t.Errorf("after the second exchange: %s", wait)
	}
}

// FuzzInstanceOf parses the parameter instance of a peer's request. A parsed clock has the same text form.
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
