package store_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"gslb.internal/overwatch/internal/state/replica"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/model"
)

// refuseTTL refuses domains with a negative TTL, like the check of an older or newer version.
func refuseTTL(o *replica.Object) error {
	var d model.Domain
	if o.Kind == store.KindDomain && json.Unmarshal(o.Value, &d) == nil && d.TTL < 0 {
		return errors.New("ttl is negative")
	}
	return nil
}

func openWith(t *testing.T, dir string, check func(*replica.Object) error) *store.Store {
	t.Helper()
	s, err := store.Open(dir, store.Options{NodeID: "a", CheckObject: check})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// offered returns an object of node b that is some seconds old.
func offered(kind, name, value string, age int) replica.Object {
	at := time.Now().Add(-time.Duration(age) * time.Second).UnixMilli()
	return replica.Object{Key: replica.Key{Kind: kind, Name: name}, Version: replica.Version{Time: at, Node: "b"},
		Value: json.RawMessage(value), Deleted: value == ""}
}

func mergeInto(t *testing.T, s *store.Store, objects ...replica.Object) replica.Merged {
	t.Helper()
	m, err := s.Merge(replica.Offer{Node: "b", Synced: time.Now(), Objects: objects}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func ttlOf(t *testing.T, s *store.Store, name string) int {
	t.Helper()
	ttl := -1
	err := s.LoadDefinitions(func(kind, key string, value []byte) error {
		if kind != store.KindDomain || key != name {
			return nil
		}
		d, err := model.Decode[model.Domain](value)
		if err == nil {
			ttl = d.TTL
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return ttl
}

// A rejected object has no effect, even after a restart, and is offered to other nodes. A version of gslb that accepts
// the object applies it.
func TestMerge_ARejectedObjectIsHeldAndTheLastAcceptedValueCounts(t *testing.T) {
	dir := t.TempDir()
	s := openWith(t, dir, refuseTTL)
	good := offered(store.KindDomain, "app.example", `{"name":"app.example","ttl":30}`, 9)
	bad := offered(store.KindDomain, "app.example", `{"name":"app.example","ttl":-5}`, 5)
	mergeInto(t, s, good)
	m := mergeInto(t, s, bad, offered("tunnel", "t1", `{}`, 5), offered(store.KindDomain, "b.example",
		`{"name":"b.example","ttl":7}`, 5))
	if len(m.Rejected) != 2 || !m.Rejected[0].Stored || !m.Rejected[1].Stored || ttlOf(t, s, "b.example") != 7 {
		t.Errorf("rejected: %+v", m.Rejected)
	}
	checkHeld := func(s *store.Store) {
		t.Helper()
		held := s.Held()
		if len(held) != 2 || held[0].Object.Name != "app.example" || held[1].Object.Kind != "tunnel" {
			t.Fatalf("held: %+v", held)
		}
		if s.HeldReason(bad.Key) == nil || ttlOf(t, s, "app.example") != 30 {
			t.Errorf("in force: ttl %d, %v", ttlOf(t, s, "app.example"), s.HeldReason(bad.Key))
		}
		if o, _ := s.Object(bad.Key); string(o.Value) != string(bad.Value) || o.Version != bad.Version {
			t.Errorf("offered to others: %s %s", o.Value, o.Version)
		}
	}
	checkHeld(s)
	digest := s.Replicas().Digest
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openWith(t, dir, refuseTTL)
	checkHeld(s)
	if s.Replicas().Digest != digest {
		t.Error("a restart changes the digest")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openWith(t, dir, nil)
	if ttlOf(t, s, "app.example") != -5 || len(s.Held()) != 1 || s.Replicas().Digest != digest {
		t.Errorf("admitted: ttl %d, held %+v", ttlOf(t, s, "app.example"), s.Held())
	}
}

// A later change ends the hold of an object.
func TestMerge_ALaterVersionEndsAHold(t *testing.T) {
	s := openWith(t, t.TempDir(), refuseTTL)
	mergeInto(t, s, offered(store.KindDomain, "app.example", `{"name":"app.example","ttl":-5}`, 5))
	mergeInto(t, s, offered(store.KindDomain, "app.example", `{"name":"app.example","ttl":5}`, 4))
	if len(s.Held()) != 0 || ttlOf(t, s, "app.example") != 5 {
		t.Errorf("held %+v, ttl %d", s.Held(), ttlOf(t, s, "app.example"))
	}
	mergeInto(t, s, offered(store.KindDomain, "app.example", `{"name":"app.example","ttl":-5}`, 3))
	var b store.Batch
	b.PutObject(store.KindDomain, &model.Domain{Name: "app.example", TTL: 6})
	if err := s.Write(&b); err != nil || len(s.Held()) != 0 {
		t.Errorf("held %+v, %v", s.Held(), err)
	}
}

// An object that no node can store does not prevent the storage of other objects of the exchange.
func TestMerge_AnObjectThatCannotBeStoredIsLeftOut(t *testing.T) {
	s := openWith(t, t.TempDir(), nil)
	endless := offered(store.KindDomain, "c.example", `{"name":"c.example"}`, 5)
	endless.Value = append(json.RawMessage(`"`), append(make([]byte, replica.MaxValue), '"')...)
	objects := []replica.Object{
		offered(store.KindDomain, "", `{"name":""}`, 5), offered("", "a.example", `{}`, 5),
		offered(store.KindDomain, "a\x00b", `{"name":"a\u0000b"}`, 5), offered("a\x00b", "c", `{}`, 5), endless,
		offered(store.KindDomain, "sound.example", `{"name":"sound.example","ttl":7}`, 5),
	}
	if m := mergeInto(t, s, objects...); len(m.Rejected) != 5 || m.Rejected[0].Stored || len(m.Taken) != 1 ||
		ttlOf(t, s, "sound.example") != 7 {
		t.Errorf("rejected %+v, taken %+v", m.Rejected, m.Taken)
	}
}

// The number of stored objects that a peer invents is limited.
func TestMerge_HeldObjectsAreBounded(t *testing.T) {
	s := openWith(t, t.TempDir(), nil)
	objects := make([]replica.Object, replica.MaxHeld+10)
	for i := range objects {
		objects[i] = offered("tunnel", fmt.Sprint("t", i), `{}`, 5)
	}
	m := mergeInto(t, s, objects...)
	if held := len(s.Held()); held != replica.MaxHeld || s.Replicas().Objects != held || len(m.Rejected) != len(objects) {
		t.Errorf("%d held, %d stored, %d rejected", held, s.Replicas().Objects, len(m.Rejected))
	}
	if again := mergeInto(t, s, objects...); len(again.Taken) != 0 || len(again.Rejected) != 10 {
		t.Errorf("taken again: %d, rejected again: %d", len(again.Taken), len(again.Rejected))
	}
}

// An offer may contain several versions of an object, because it is sent in pages. The check applies to each of them.
func TestMerge_EachVersionOfAnObjectIsChecked(t *testing.T) {
	dir := t.TempDir()
	s := openWith(t, dir, refuseTTL)
	mergeInto(t, s, offered(store.KindDomain, "app.example", `{"name":"app.example","ttl":-5}`, 9),
		offered(store.KindDomain, "app.example", `{"name":"app.example","ttl":-6}`, 5))
	if ttl := ttlOf(t, s, "app.example"); ttl != -1 || len(s.Held()) != 1 {
		t.Errorf("ttl %d is in a record, held %+v", ttl, s.Held())
	}
	mergeInto(t, s, offered(store.KindDomain, "app.example", `{"name":"app.example","ttl":-5}`, 4),
		offered(store.KindDomain, "app.example", `{"name":"app.example","ttl":7}`, 3))
	if ttl := ttlOf(t, s, "app.example"); ttl != 7 || len(s.Held()) != 0 {
		t.Errorf("ttl %d, held %+v", ttl, s.Held())
	}
}

// Several versions of one object without effect do not permit more other objects.
func TestMerge_VersionsOfAHeldObjectMakeNoRoom(t *testing.T) {
	s := openWith(t, t.TempDir(), nil)
	large := `"` + strings.Repeat("x", replica.MaxValue-2) + `"`
	mergeInto(t, s, offered("tunnel", "t", large, 99))
	var objects []replica.Object
	for age := range 20 {
		objects = append(objects, offered("tunnel", "t", `{}`, 90-age))
	}
	for i := range 20 {
		objects = append(objects, offered("tunnel", fmt.Sprint("t", i), large, 5))
	}
	mergeInto(t, s, objects...)
	size := 0
	for _, held := range s.Held() {
		size += len(held.Object.Value)
	}
	if size > replica.MaxHeldSize {
		t.Errorf("%d octets are held", size)
	}
}

// After a failed transaction, the objects without effect stay the same.
func TestMerge_AFailureEndsNoHold(t *testing.T) {
	s := openWith(t, t.TempDir(), refuseTTL)
	bad := offered(store.KindDomain, "app.example", `{"name":"app.example","ttl":-5}`, 5)
	mergeInto(t, s, bad)
	later := offered(store.KindDomain, "app.example", `{"name":"app.example","ttl":-6}`, 4)
	m, err := s.Merge(replica.Offer{Node: "b", Objects: []replica.Object{later}},
		func(*replica.Merged) store.MergeEntries {
			return store.MergeEntries{Changes: []store.Entry{func(uint64, []byte) (uint64, []byte, error) {
				return 0, nil, errors.New("full")
			}}}
		})
	if !errors.Is(err, store.ErrNotDurable) || len(m.Taken)+len(m.Rejected) > 0 {
		t.Fatalf("merged %+v, %v", m, err)
	}
	if o, _ := s.Object(bad.Key); o.Version != bad.Version || s.HeldReason(bad.Key) == nil || len(s.Held()) != 1 {
		t.Errorf("stored %+v, held for %v", o, s.HeldReason(bad.Key))
	}
}
