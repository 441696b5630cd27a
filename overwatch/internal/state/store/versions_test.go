package store // inside: it uses bucketBegun, bucketVersions and writer

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"gslb.internal/overwatch/internal/state/replica"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
)

func openNode(t *testing.T, dir, id string, now func() time.Time) *Store {
	t.Helper()
	s, err := Open(dir, Options{NodeID: id, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// exchange makes two stores receive all objects of each other, like nodes that connect for the first time.
func exchange(t *testing.T, a, b *Store) {
	t.Helper()
	a.Agree(b.Now())
	b.Agree(a.Now())
	fromA, fromB := offered(t, a), offered(t, b)
	for s, offer := range map[*Store]replica.Offer{a: fromB, b: fromA} {
		if _, err := s.Merge(offer, nil); err != nil {
			t.Fatal(err)
		}
	}
	if a.Replicas().Digest != b.Replicas().Digest {
		t.Errorf("after an exchange the stores differ: %+v, %+v", a.Objects(), b.Objects())
	}
}

// offered returns everything that a store offers.
func offered(t *testing.T, s *Store) replica.Offer {
	t.Helper()
	offer, err := s.Page(0, 1<<30, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	return offer
}

func putOne(t *testing.T, s *Store, name, description string) {
	t.Helper()
	var b Batch
	b.PutObject(KindDomain, &model.Domain{Name: name, Description: description})
	if err := s.Write(&b); err != nil {
		t.Fatal(err)
	}
}

func deleteOne(t *testing.T, s *Store, name string) {
	t.Helper()
	var b Batch
	b.Delete(KindDomain, name)
	if err := s.Write(&b); err != nil {
		t.Fatal(err)
	}
}

func descriptions(t *testing.T, s *Store) map[string]string {
	t.Helper()
	found := make(map[string]string)
	err := s.LoadDefinitions(func(kind, name string, value []byte) error {
		if kind != KindDomain {
			return nil
		}
		d, err := model.Decode[model.Domain](value)
		if err == nil {
			found[name] = d.Description
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// loaded returns the number of loaded definitions by kind.
func loaded(s *Store) (map[string]int, error) {
	counts := map[string]int{}
	return counts, s.LoadDefinitions(func(kind, _ string, _ []byte) error { counts[kind]++; return nil })
}

// Every kind is replicated with its record and its version, and a deleted object is restored by no node, even after a
// restart.
func TestVersions_WhatIsWrittenReachesAnotherStore(t *testing.T) {
	dirs := []string{t.TempDir(), t.TempDir()}
	a, b := openNode(t, dirs[0], "a", nil), openNode(t, dirs[1], "b", nil)
	var batch Batch
	batch.PutObject(KindDomain, &model.Domain{Name: "app.example"})
	batch.PutObject(KindRegion, &model.Region{Name: "eu"})
	batch.PutObject(KindMapping, &model.Mapping{CIDR: netip.MustParsePrefix("192.0.2.0/24"), Region: "eu"})
	batch.PutObject(KindAgent, &Node{ID: "agent-1"})
	batch.Put(KindSetting, "dns", []byte(`{"default_ttl":7}`))
	batch.Put(KindSetting, "logging", []byte(`{"level":"debug"}`))
	if err := a.Write(&batch); err != nil {
		t.Fatal(err)
	}
	server := model.Server{Service: "app.example", Address: netip.MustParseAddr("2001:db8::1"), Port: 80}
	if err := errors.Join(a.PutServer(server), a.PutOrder(Order{Kind: api.OrderDrain, Service: "app.example",
		Address: "[2001:db8::1]:80"})); err != nil {
		t.Fatal(err)
	}
	exchange(t, a, b)
	d, err := loaded(b)
	servers, err2 := b.LoadServers()
	orders, err3 := b.LoadOrders()
	if errors.Join(err, err2, err3) != nil || fmt.Sprint(d) != "map[agent:1 domain:1 mapping:1 region:1 setting:1]" ||
		len(servers) != 1 || servers[0].Address != server.Address ||
		len(orders) != 1 {
		t.Errorf("the other store has %+v, servers %+v, orders %+v", d, servers, orders)
	}
	deleteOne(t, b, "app.example")
	if err := errors.Join(a.Close(), b.Close()); err != nil {
		t.Fatal(err)
	}
	a, b = openNode(t, dirs[0], "a", nil), openNode(t, dirs[1], "b", nil)
	if figures := b.Replicas(); figures.Objects != 6 || figures.Tombstones != 1 {
		t.Errorf("after a restart: %+v", figures)
	}
	exchange(t, a, b)
	if found := descriptions(t, a); len(found) != 0 {
		t.Errorf("a deleted domain is there: %v", found)
	}
}

// Objects that this version cannot read are stored and forwarded, and are not used. The same applies to records with
// the name of another object.
func TestVersions_UnknownObjectsArePassedOn(t *testing.T) {
	dir := t.TempDir()
	s := openNode(t, dir, "a", nil)
	at := replica.Version{Time: time.Now().UnixMilli(), Node: "z"}
	offer := replica.Offer{Node: "z", Whole: true}
	for kind, name := range map[string]string{"tunnel": "t1", KindDomain: "app.example", KindMapping: "everywhere",
		KindServer: "app.example", KindSetting: "logging"} {
		offer.Objects = append(offer.Objects, replica.Object{Key: replica.Key{Kind: kind, Name: name}, Version: at,
			Value: json.RawMessage(`{"name":"other.example","cidr":"everywhere","new":1}`)})
	}
	if _, err := s.Merge(offer, nil); err != nil {
		t.Fatal(err)
	}
	digest := s.Replicas().Digest
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openNode(t, dir, "a", nil)
	if d, err := loaded(s); err != nil || len(d) != 0 {
		t.Errorf("in force: %+v, %v", d, err)
	}
	if s.Replicas().Digest != digest || len(offered(t, s).Objects) != 5 {
		t.Errorf("after a restart %+v", s.Objects())
	}
}

// A record of another node keeps a field that this program does not know.
func TestVersions_UnknownFieldsArePassedOn(t *testing.T) {
	dir := t.TempDir()
	s := openNode(t, dir, "a", nil)
	value := json.RawMessage(`{"name":"app.example","colour":"red"}`)
	if _, err := s.Merge(replica.Offer{Node: "z", Objects: []replica.Object{{
		Key:     replica.Key{Kind: KindDomain, Name: "app.example"},
		Version: replica.Version{Time: time.Now().UnixMilli(), Node: "z"}, Value: value}}}, nil); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openNode(t, dir, "a", nil)
	o, _ := s.Object(replica.Key{Kind: KindDomain, Name: "app.example"})
	if string(o.Value) != string(value) || o.Version.Node != "z" {
		t.Errorf("got %s of %s", o.Value, o.Version)
	}
}

// Records that the disk did not accept are not offered to other nodes.
func TestVersions_AFailedWriteIsNotOffered(t *testing.T) {
	s := openNode(t, t.TempDir(), "a", nil)
	for _, description := range []string{"1", "2", "3", "4", "5"} {
		putOne(t, s, "one.example", description)
	}
	before := s.Replicas().Changes
	err := s.update(func(w *writer) {
		w.putRecord("domains", []byte("two.example"), []byte(`{"name":"two.example"}`))
		w.err = errors.New("full")
	})
	if !errors.Is(err, ErrNotDurable) {
		t.Fatal(err)
	}
	if got := offered(t, s).Objects; len(got) != 1 || s.Replicas().Objects != 1 {
		t.Errorf("offered: %+v", got)
	}
	putOne(t, s, "three.example", "") // other nodes that had all objects lack this object
	if now := s.Replicas().Changes; now <= before || s.ChangedSince(before) != 1 {
		t.Errorf("after change %d, the last one is %d, with %d objects", before, now, s.ChangedSince(before))
	}
}

// Versions of a wrong clock are replaced after the clock is corrected, and other nodes accept the new versions.
func TestVersions_AMendedClockGivesNewVersions(t *testing.T) {
	now := time.Now()
	clock := func() time.Time { return now.Add(time.Hour) }
	s := openNode(t, t.TempDir(), "a", func() time.Time { return clock() })
	putOne(t, s, "app.example", "")
	clock = func() time.Time { return now }
	s.Agree(now)
	mended, err := s.TendReplicas(replica.PeersAnswer)
	if err != nil || len(mended) != 1 {
		t.Fatalf("mended %v, %v", mended, err)
	}
	if o, _ := s.Object(mended[0].Key); o.Version.At().After(now) {
		t.Errorf("its version is %s", o.Version)
	}
}

// After a restart, a node still knows which of its versions other nodes may have.
func TestVersions_OnlyVersionsThatNobodyHasAreGivenAgain(t *testing.T) {
	now := time.Now()
	for name, c := range map[string]struct {
		limit time.Time // of a peer that asked for all
		older bool      // a program without marks has stored it
		want  int
	}{"refused there": {now, false, 1}, "taken there": {now.Add(time.Hour), false, 0},
		"by a peer with an unknown clock": {time.Time{}, false, 0}, "stored by 0.9.0": {now, true, 0}} {
		dir := t.TempDir()
		s := openNode(t, dir, "a", func() time.Time { return now.Add(time.Hour) })
		putOne(t, s, "app.example", "")
		_, err := s.Page(0, 1<<20, c.limit)
		if c.older {
			err = errors.Join(err, s.update(func(w *writer) { w.delete(bucketMeta, marksKey) }))
		}
		if err := errors.Join(err, s.Close()); err != nil {
			t.Fatal(err)
		}
		s = openNode(t, dir, "a", func() time.Time { return now })
		early, err := s.TendReplicas(replica.PeersAnswer)
		s.Agree(now)
		mended, err2 := s.TendReplicas(replica.PeersAnswer)
		if errors.Join(err, err2) != nil || len(early) != 0 || len(mended) != c.want {
			t.Errorf("%s: %d and %d objects get new versions, want 0 and %d: %v", name, len(early), len(mended), c.want,
				errors.Join(err, err2))
		}
	}
}

// A node whose clock is ahead ends an order only locally and once, and again when other nodes offer all objects.
func TestVersions_AnEndOnOneNodeIsNoEndOnAnother(t *testing.T) { synctest.Test(t, endOnOneNode) }

func endOnOneNode(t *testing.T) {
	now := time.Now()
	dirs := []string{t.TempDir(), t.TempDir()}
	ahead := time.Hour
	clocks := []func() time.Time{time.Now, func() time.Time { return time.Now().Add(ahead) }}
	a, b := openNode(t, dirs[0], "a", clocks[0]), openNode(t, dirs[1], "b", clocks[1])
	ends := now.Add(30 * time.Minute).UTC()
	o := Order{Kind: api.OrderDrain, Service: "app.example", Address: "192.0.2.1:80", CreatedAt: now.UTC(),
		ExpiresAt: &ends}
	orders := func(s *Store, want int) {
		t.Helper()
		if got, err := s.LoadOrders(); err != nil || len(got) != want {
			t.Errorf("%s has %+v, %v; want %d", s.o.NodeID, got, err, want)
		}
	}
	if err := a.PutOrder(o); err != nil {
		t.Fatal(err)
	}
	exchange(t, a, b)
	orders(b, 1)
	if err := b.ExpireOrder(o.Kind, o.Service, o.Address, ends); err != nil {
		t.Fatal(err)
	}
	exchange(t, a, b)
	orders(a, 1)
	orders(b, 0)
	if listed := b.Objects(); len(listed) != 0 {
		t.Errorf("b lists %+v", listed)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	b = openNode(t, dirs[1], "b", clocks[1])
	exchange(t, a, b)
	orders(a, 1)
	orders(b, 0)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	ahead = 0 // the clock is correct: the admin state is active after the next start
	b = openNode(t, dirs[1], "b", clocks[1])
	exchange(t, a, b)
	orders(b, 1)
	// After its end on all nodes, the order is removed with the deletions of its time, and a later order is not.
	time.Sleep(time.Until(ends))
	for _, s := range []*Store{a, b} {
		if err := s.ExpireOrder(o.Kind, o.Service, o.Address, ends); err != nil {
			t.Fatal(err)
		}
		orders(s, 0)
	}
	time.Sleep(defaultRetention)
	tend := func(want int) {
		t.Helper()
		for _, s := range []*Store{a, b} {
			met := s.MetReplicas()
			_, err := s.TendReplicas(replica.PeersAnswer)
			if err = errors.Join(met, err); err != nil || s.Replicas().Objects != want {
				t.Errorf("%s remembers %d objects, want %d: %v", s.o.NodeID, s.Replicas().Objects, want, err)
			}
		}
		exchange(t, a, b)
	}
	tend(1)
	time.Sleep(time.Minute)
	tend(0)
	if err := b.PutOrder(o); err != nil {
		t.Fatal(err)
	}
	exchange(t, a, b)
	orders(a, 1)
	if err := errors.Join(a.DeleteOrder(o.Kind, o.Service, o.Address), b.Close()); err != nil { // by an operator
		t.Fatal(err)
	}
	b = openNode(t, dirs[1], "b", clocks[1])
	exchange(t, a, b)
	orders(b, 0)
}

// A deletion is also removed from the disk after its storage time, even if the node was down. A clock that may still be
// corrected removes nothing: at the start, and after a clock step.
func TestVersions_OldDeletionsLeaveTheDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, ahead := t.TempDir(), time.Duration(0)
		now := func() time.Time { return time.Now().Add(ahead) }
		s := openNode(t, dir, "a", now)
		reopen := func() {
			t.Helper()
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			s = openNode(t, dir, "a", now)
		}
		stored := func(when string, want int) {
			t.Helper()
			_, err := s.TendReplicas(replica.NoPeers)
			got := 0
			if err := errors.Join(err, s.read(bucketVersions, func(_, _ []byte) error {
				got++
				return nil
			})); err != nil || got != want {
				t.Errorf("%s %d versions are stored, want %d: %v", when, got, want, err)
			}
		}
		putOne(t, s, "app.example", "")
		deleteOne(t, s, "app.example")
		time.Sleep(10 * time.Minute)
		ahead = 400 * 24 * time.Hour
		stored("after a jump", 1)
		reopen()
		stored("at the start", 1)
		ahead = 0
		stored("after the clock was put right", 1)
		time.Sleep(10 * time.Minute)
		if stored("by a clock that is right", 1); s.Replicas().Tombstones != 1 {
			t.Error("the deletion is not remembered again")
		}
		time.Sleep(defaultRetention)
		reopen()
		time.Sleep(10 * time.Minute)
		stored("in the end", 0)
	})
}

// The record of a local start of an order is removed with the order, which another node deletes.
func TestVersions_AnOrderThatHasBegunLeavesNothing(t *testing.T) {
	a, b := openNode(t, t.TempDir(), "a", nil), openNode(t, t.TempDir(), "b", nil)
	starts := time.Now().UTC()
	o := Order{Kind: api.OrderWeight, Service: "app.example", Address: "192.0.2.1:80", Weight: 7, StartsAt: &starts}
	if err := a.PutOrder(o); err != nil {
		t.Fatal(err)
	}
	exchange(t, a, b)
	begun := func(want int) {
		t.Helper()
		got := 0
		if err := b.read(bucketBegun, func(_, _ []byte) error {
			got++
			return nil
		}); err != nil || got != want {
			t.Errorf("%d orders have begun, want %d: %v", got, want, err)
		}
	}
	if err := b.BeginOrder(o.Kind, o.Service, o.Address, starts); err != nil {
		t.Fatal(err)
	}
	begun(1)
	if err := a.DeleteOrder(o.Kind, o.Service, o.Address); err != nil {
		t.Fatal(err)
	}
	exchange(t, a, b)
	begun(0)
}

// An ended order keeps its value with a new version.
func TestVersions_AMendedOrderThatHasEndedIsWhole(t *testing.T) {
	now := time.Now()
	offset := time.Hour
	dir := t.TempDir()
	clock := func() time.Time { return now.Add(offset) }
	s := openNode(t, dir, "a", clock)
	ends := now.Add(-time.Minute).UTC()
	o := Order{Kind: api.OrderWeight, Service: "app.example", Address: "192.0.2.1:80", Weight: 7, ExpiresAt: &ends}
	if err := errors.Join(s.PutOrder(o), s.ExpireOrder(o.Kind, o.Service, o.Address, ends)); err != nil {
		t.Fatal(err)
	}
	offset = 0
	s.Agree(now)
	mended, err := s.TendReplicas(replica.PeersAnswer)
	if err != nil || len(mended) != 1 {
		t.Fatalf("mended %v, %v", mended, err)
	}
	digest := s.Replicas().Digest
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openNode(t, dir, "a", clock)
	if got, _ := s.Object(mended[0].Key); len(got.Value) == 0 || s.Replicas().Digest != digest {
		t.Errorf("after a restart it is %+v", got)
	}
}

// A change wakes readers. An operation without a change does not.
func TestVersions_AChangeWakes(t *testing.T) {
	s := openNode(t, t.TempDir(), "a", nil)
	before := s.Replicas()
	if err := s.PutPin(Pin{AgentID: "x"}); err != nil {
		t.Fatal(err)
	}
	select {
	case <-before.Next:
		t.Fatal("a pin wakes")
	default:
	}
	putOne(t, s, "app.example", "")
	<-before.Next
}
