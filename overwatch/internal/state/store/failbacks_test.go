package store_test

import (
	"testing"
	"time"

	"gslb.internal/overwatch/internal/state/replica"
	"gslb.internal/overwatch/internal/state/store"
)

// Failbacks survive a restart and are replicated: the latest change of a region wins.
func TestFailbacks_AreStoredAndReplicated(t *testing.T) {
	dir := t.TempDir()
	s := openWith(t, dir, nil)
	since := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	write := func(change func(*store.Batch)) {
		t.Helper()
		var b store.Batch
		change(&b)
		if err := s.Write(&b); err != nil {
			t.Fatal(err)
		}
	}
	want := func(regions string) {
		t.Helper()
		list, err := s.LoadFailbacks()
		got := ""
		for _, f := range list {
			if got += f.Region + " "; f.Domain != "app.example" || !f.Since.Equal(since) {
				t.Errorf("%+v", f)
			}
		}
		if err != nil || got != regions {
			t.Errorf("%q, %v, want %q", got, err, regions)
		}
	}
	put := func(region string) func(*store.Batch) {
		return func(b *store.Batch) {
			b.PutFailback(store.Failback{Domain: "app.example", Region: region, Since: since})
		}
	}
	write(put("eu"))
	write(put("us"))
	before := s.Replicas().Changes
	write(put("us")) // unchanged
	write(func(b *store.Batch) { b.DeleteFailback("app.example", "xx") })
	if now := s.Replicas().Changes; now != before {
		t.Errorf("%d changes without a difference", now-before)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openWith(t, dir, nil)
	want("eu us ")
	write(func(b *store.Batch) { b.DeleteFailback("app.example", "us") })
	want("eu ")
	o, there := s.Object(replica.Key{Kind: store.KindFailback, Name: "app.example eu"})
	if !there || o.Deleted {
		t.Fatalf("%+v", o)
	}
	older := offered(store.KindFailback, "app.example eu", "", 60)
	mergeInto(t, s, older)
	want("eu ")
	newer := older
	newer.Version = o.Version
	newer.Version.Time++
	mergeInto(t, s, newer, offered(store.KindFailback, "app.example ap",
		`{"domain":"app.example","region":"ap","created_at":"2026-03-01T12:00:00Z"}`, 1))
	want("ap ")
	mergeInto(t, s, offered(store.KindFailback, "app.example sa", `{"domain":"other.example","region":"sa"}`, 1))
	want("ap ")
	if held := s.Held(); len(held) != 1 {
		t.Errorf("the object with another name: %+v", held)
	}
}
