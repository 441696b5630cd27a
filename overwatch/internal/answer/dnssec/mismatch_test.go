package dnssec // inside: it uses privateEnding and publicEnding

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/answer/dnssec/roll"
)

// reopen opens the node with its clock, as after a crash.
func (w *world) reopen(t *testing.T) *world {
	t.Helper()
	again := &world{dir: w.dir, time: w.time}
	var err error
	if again.Zones, err = Open(Options{Dir: w.dir, NodeID: "node1", Now: func() time.Time { return again.time },
		Registerer: prometheus.NewRegistry(), Logger: zerolog.Nop()}); err != nil {
		t.Fatal(err)
	}
	again.signer(t)
	return again
}

// mismatched checks the mismatch of the only zone: its text contains want. An empty want means no mismatch.
func (w *world) mismatched(t *testing.T, when, want string) {
	t.Helper()
	w.signer(t)
	w.mismatchedNow(t, when, want)
}

// mismatchedNow is like mismatched, for the current signer.
func (w *world) mismatchedNow(t *testing.T, when, want string) {
	t.Helper()
	all := w.Mismatches()
	switch {
	case want == "" && len(all) > 0:
		t.Errorf("%s: %+v", when, all)
	case want != "" && (len(all) != 1 || !strings.Contains(all[0].Problem, want) ||
		!all[0].Until.IsZero() && !all[0].Until.After(w.time)):
		t.Errorf("%s: %+v, want %q", when, all, want)
	}
}

// A key that is removed manually before resolvers know its successor is a mismatch, until caches have dropped its
// records. The same applies after a restart, and if the key was removed while the node was stopped.
func TestMismatches_AKeyThatIsRemovedTooEarly(t *testing.T) {
	t.Parallel()
	for _, stopped := range []bool{false, true} {
		w := open(t, t.TempDir())
		first := w.signer(t).active[0]
		w.ServeTTL(30 * time.Minute)
		w.time = w.time.Add(24 * time.Hour)
		w.mismatched(t, "one key", "")
		w.put(t, w.another(t))
		if stopped {
			w.drop(t, first, publicEnding, privateEnding)
			w = w.reopen(t)
		} else {
			w.reread(t)
			w.mismatched(t, "two keys that sign", "")
			w.time = w.time.Add(time.Minute)
			w.drop(t, first, publicEnding, privateEnding)
			w.reread(t)
		}
		w.mismatched(t, "removed", "only key "+tagList(namesOf([]*Key{first}))[len("key "):])
		w = w.reopen(t)
		w.mismatched(t, "after a restart", "DNSKEY records")
		w.time = w.time.Add(DefaultKeyTTL)
		w.mismatched(t, "after the TTL", "")
	}
}

// Restored key files end the mismatch.
func TestMismatches_EndWithTheKeyFiles(t *testing.T) {
	t.Parallel()
	w := open(t, t.TempDir())
	first := w.signer(t).active[0]
	w.time = w.time.Add(24 * time.Hour)
	w.put(t, w.another(t))
	w.reread(t)
	w.drop(t, first, publicEnding, privateEnding)
	w.reread(t)
	w.mismatched(t, "removed", "DNSKEY records")
	w.put(t, first)
	w.reread(t)
	w.mismatched(t, "restored", "")
}

// A DS record of a key that has stopped signing is a mismatch until caches have dropped the record. An example is a new
// record that an operator has confirmed but the parent does not have.
func TestMismatches_ADSRecordOfTheOldKey(t *testing.T) {
	t.Parallel()
	w := open(t, t.TempDir())
	first := w.signer(t).active[0]
	w.time = w.time.Add(24 * time.Hour)
	if _, err := w.BeginRoll(apex, RollOptions{TTL: roll.TTLs{DS: time.Hour}}); err != nil {
		t.Fatal(err)
	}
	parent := Parent{DS: slices.Repeat([]*dns.DS{first.DS(0)}, 26), TTL: time.Hour} // of 13 servers with two addresses
	at := func(stage roll.Stage) {
		t.Helper()
		for w.Rolls()[0].Stage != stage {
			_, err := w.StepRolls(Surroundings{Margin: time.Minute, Parent: func(string) Parent { return parent }})
			if err != nil {
				t.Fatal(err)
			}
			w.mismatched(t, "during "+w.Rolls()[0].Stage.String(), "")
			w.time = w.time.Add(time.Minute)
		}
	}
	at(roll.Offered)
	if _, err := w.ConfirmDS(apex); err != nil {
		t.Fatal(err)
	}
	for w.Rolls()[0].Stage == roll.Offered {
		_, err := w.StepRolls(Surroundings{Margin: time.Minute, Parent: func(string) Parent { return parent }})
		if err != nil {
			t.Fatal(err)
		}
		w.time = w.time.Add(time.Minute)
	}
	w.mismatched(t, "confirmed early", "DS record")
	w = w.reopen(t)
	w.mismatched(t, "after a restart", "DS record")
	w.time = w.time.Add(2 * time.Hour)
	w.mismatched(t, "after the TTL", "")
}

// Large DS sets are not stored: the record of the zone remains readable.
func TestNoteDS_Bounds(t *testing.T) {
	t.Parallel()
	w := open(t, t.TempDir())
	w.signer(t)
	w.time = w.time.Add(24 * time.Hour)
	if _, err := w.BeginRoll(apex, RollOptions{TTL: roll.TTLs{DS: time.Hour}}); err != nil {
		t.Fatal(err)
	}
	long := &dns.DS{KeyTag: 7, Algorithm: 13, DigestType: 2, Digest: strings.Repeat("ab", 30_000)}
	var many []*dns.DS
	for tag := range uint16(maxDS + 1) {
		many = append(many, &dns.DS{KeyTag: tag, Algorithm: 13, DigestType: 2, Digest: "ab"})
	}
	for name, set := range map[string][]*dns.DS{"a long digest": {long}, "many records": many} {
		parent := Parent{DS: set, TTL: time.Hour}
		if _, err := w.StepRolls(Surroundings{Parent: func(string) Parent { return parent }}); err != nil {
			t.Fatal(err)
		}
		if again := w.reopen(t); len(again.Rolls()) != 1 || len(again.keyring.recordOf(apex).ParentDS) > 0 {
			t.Errorf("%s: after a restart the rolls are %+v", name, again.Rolls())
		}
	}
}
