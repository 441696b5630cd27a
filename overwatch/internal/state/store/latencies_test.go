package store // inside: it shares store_test.go

import (
	"net/netip"
	"reflect"
	"testing"
	"time"
)

func TestLatencies_ThoseSavedLastAreThereAfterARestart(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	one := Latency{Service: "app.gslb.test", Address: netip.MustParseAddr("192.0.2.1"), Port: 80,
		Smoothed: 20 * time.Millisecond, Samples: 7, Held: []string{"latency", "geolocation eu"}}
	two := Latency{Service: "app.gslb.test", Address: netip.MustParseAddr("2001:db8::1"), Port: 443,
		Smoothed: time.Microsecond, Samples: 1}
	gone := Latency{Service: "old.gslb.test", Address: netip.MustParseAddr("192.0.2.9"), Port: 80, Samples: 3}
	for _, saved := range [][]Latency{{gone, one}, {one, two}} {
		if err := s.SaveLatencies(saved); err != nil {
			t.Fatal(err)
		}
	}
	closed(t, s)
	found, err := open(t, dir).LoadLatencies()
	if want := []Latency{two, one}; err != nil ||
		!reflect.DeepEqual(found, want) && !reflect.DeepEqual(found, []Latency{one, two}) {
		t.Errorf("%+v (%v), want %+v", found, err, want)
	}
}

func TestLatencies_OfNothingAreNone(t *testing.T) {
	s := open(t, t.TempDir())
	if err := s.SaveLatencies(nil); err != nil {
		t.Fatal(err)
	}
	if found, err := s.LoadLatencies(); len(found) != 0 || err != nil {
		t.Errorf("%+v (%v)", found, err)
	}
}
