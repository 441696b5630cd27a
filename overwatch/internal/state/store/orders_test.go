package store // inside: it uses bucketBegun, bucketDigests and bucketDrains

import (
	"encoding/binary"
	"encoding/json"
	"net/netip"
	"reflect"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"gslb.internal/shared/api"
)

// Orders of each kind come back whole, each under a name of its own, and so does what was noted of their beginnings.
func TestOrders_SurviveReopeningByKindAndName(t *testing.T) {
	dir := t.TempDir()
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	ends := at.Add(time.Hour)
	var want []Order
	s := open(t, dir)
	for i, kind := range api.OrderKinds() {
		o := Order{Kind: kind, Service: "a.test", Address: "192.0.2.1:80", Healthy: i == 0, Weight: 7, Share: 0.25,
			Over: time.Minute, Reason: "r", Source: "api", CreatedAt: at, CreatedBy: "ops", StartsAt: &at, ExpiresAt: &ends}
		if err := s.PutOrder(o); err != nil {
			t.Fatal(err)
		}
		if err := s.BeginOrder(kind, o.Service, o.Address, at); err != nil {
			t.Fatal(err)
		}
		o.Begun = true
		want = append(want, o)
	}
	closed(t, s)
	s = open(t, dir)
	if got, err := s.LoadOrders(); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v %v, want %+v", got, err, want)
	}
	// Another beginning has not been told of; what is deleted is gone with its mark.
	later := ends
	moved := want[0]
	moved.StartsAt, moved.ExpiresAt = &later, nil
	if err := s.PutOrder(moved); err != nil {
		t.Fatal(err)
	}
	if err := s.DeleteOrder(api.OrderWeight, "a.test", "192.0.2.1:80"); err != nil {
		t.Fatal(err)
	}
	if err := s.ExpireOrder(api.OrderDrain, "a.test", "192.0.2.1:80", ends.Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	got, err := s.LoadOrders()
	if err != nil || len(got) != 2 || got[0].Begun || got[1].Kind != api.OrderDrain {
		t.Errorf("%+v %v", got, err)
	}
}

// A store of schema 2 has an operator's drain in the status of its backend.
func TestMigrate_ADrainInAStatusBecomesAnOrder(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	plain, drained := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("2001:db8::2")
	if err := s.SaveStatuses([]Status{{Service: "a.test", Address: plain, Port: 80, Healthy: true}}); err != nil {
		t.Fatal(err)
	}
	value, err := json.Marshal(map[string]any{"healthy": true, "drain_since": at, "drain_over": 30 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.update(func(w *writer) {
		w.put(bucketStatuses, endpointKey("a.test", drained, 443), value)
		w.put(bucketMeta, schemaKey, binary.BigEndian.AppendUint32(nil, 2))
		for _, name := range []string{bucketWeights, bucketDrains, bucketBegun} {
			w.err = dropBucket(w.tx, name)
		}
	}); err != nil {
		t.Fatal(err)
	}
	closed(t, s)
	s = open(t, dir)
	want := []Order{{Kind: api.OrderDrain, Service: "a.test", Address: "[2001:db8::2]:443", Over: 30 * time.Second,
		Source: "api", CreatedAt: at}}
	if got, err := s.LoadOrders(); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v %v, want %+v", got, err, want)
	}
	if list, err := s.LoadStatuses(); err != nil || len(list) != 2 || !list[1].Healthy {
		t.Errorf("%+v %v", list, err)
	}
}

// dropBucket takes away what an earlier schema does not have.
func dropBucket(tx *bolt.Tx, name string) error {
	if err := tx.DeleteBucket([]byte(name)); err != nil {
		return err
	}
	return tx.Bucket([]byte(bucketDigests)).Delete([]byte(name))
}
