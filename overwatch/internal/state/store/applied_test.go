package store // inside: it shares store_test.go

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/rs/zerolog"
)

func TestApplied_KeepsTheNewestStatesWithinTheirBounds(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(dir, Options{Logger: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	if state, err := s.Applied("r1"); state != nil || err != nil {
		t.Errorf("of a new store: %q, %v", state, err)
	}
	put := func(i, size int) {
		t.Helper()
		if err := s.PutApplied(fmt.Sprint("r", i), bytes.Repeat([]byte{byte(i)}, size)); err != nil {
			t.Fatal(err)
		}
	}
	has := func(i, size int) {
		t.Helper()
		state, err := s.Applied(fmt.Sprint("r", i))
		want := bytes.Repeat([]byte{byte(i)}, size)
		if err != nil || !bytes.Equal(state, want) || (state == nil) != (size == 0) {
			t.Errorf("r%d: %d octets, %v, want %d", i, len(state), err, size)
		}
	}
	for i := 1; i <= MaxApplied+2; i++ {
		put(i, 10+i)
	}
	has(2, 0)
	has(3, 13)
	has(MaxApplied+2, 10+MaxApplied+2)
	for i := 101; i <= 105; i++ {
		put(i, MaxAppliedSize-100)
	}
	has(101, 0)
	has(102, MaxAppliedSize-100)
	has(103, MaxAppliedSize-100)
	if err := s.PutApplied("large", make([]byte, MaxAppliedSize+1)); err == nil {
		t.Error("a state that is too large is kept")
	}
	if err := s.DeleteApplied("r104"); err != nil {
		t.Fatal(err)
	}
	has(104, 0)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = Open(dir, Options{Logger: zerolog.Nop()}); err != nil || s.Recovered() != "" {
		t.Fatalf("the store is not whole: %v, %q", err, s.Recovered())
	}
	has(105, MaxAppliedSize-100)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}
