package store // inside: it shares store_test.go

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
)

// Pins and locks change together and persist, for a reason of any length. The schema is still found.
func TestChangePins_PinsAndLocksOutliveTheProcess(t *testing.T) {
	dir := t.TempDir()
	open := func() *Store {
		t.Helper()
		s, err := Open(dir, Options{Logger: zerolog.Nop()})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var locks []TokenLock
	for _, service := range []string{"a.example", "b.example", "c.example"} {
		locks = append(locks, TokenLock{Service: service, Tokens: [][16]byte{{1}, {2}}, AgentID: "bad",
			Reason: strings.Repeat("x", 500), At: at})
	}
	s := open()
	err := s.ChangePins(PinChange{Put: []Pin{{AgentID: "a"}, {AgentID: "b", Unreported: true}}, Lock: locks})
	if err == nil {
		err = s.ChangePins(PinChange{Drop: []string{"a", "nobody"}, Unlock: []string{"b.example"}})
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := CheckSchema(dir); err != nil {
		t.Error(err)
	}
	s = open()
	defer s.Close()
	pins, err := s.LoadPins()
	if err != nil || len(pins) != 1 || pins[0].AgentID != "b" || !pins[0].Unreported {
		t.Errorf("%+v, %v", pins, err)
	}
	got, err := s.LoadLocks()
	if err != nil || !reflect.DeepEqual(got, []TokenLock{locks[0], locks[2]}) {
		t.Errorf("%+v, %v", got, err)
	}
}
