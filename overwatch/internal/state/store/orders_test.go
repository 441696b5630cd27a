package store // inside: it opens the buckets of a store

import (
	"reflect"
	"testing"
	"time"

	"gslb.internal/shared/api"
)

// The store returns orders of each kind completely, each with its own name, and the recorded starts of orders.
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
	// A changed start has not been reported. A deleted order is removed together with the record of its start.
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
