package control // inside: it uses leftOut

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/logging"
)

// stateOf opens the state of a node whose file has these domains.
func stateOf(t *testing.T, kept *store.Store, file *config.Config) *State {
	t.Helper()
	_, level, err := logging.Adjustable(file.Logging, t.Output())
	if err != nil {
		t.Fatal(err)
	}
	s, err := OpenState(StateOptions{File: file, Started: time.Now(), Store: kept, Logging: level,
		Registerer: prometheus.NewRegistry(), Logger: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func fileWith(domains ...string) *config.Config {
	c := config.Default()
	for _, name := range domains {
		var d config.Domain
		d.SetDefaults()
		d.Name = name
		c.Domains = append(c.Domains, d)
	}
	return c
}

func TestCreatedAt_OutlivesReloadsAndRestarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, began := t.TempDir(), time.Now()
		open := func() *store.Store {
			kept, err := store.Open(dir, store.Options{})
			if err != nil {
				t.Fatal(err)
			}
			return kept
		}
		kept := open()
		s := stateOf(t, kept, fileWith("a.example", "b.example"))
		time.Sleep(time.Hour) // virtual, as all here
		s.setFile(fileWith("a.example", "c.example"), leftOut{})
		kept.Close()
		time.Sleep(time.Hour)
		kept = open()
		defer kept.Close()
		s = stateOf(t, kept, fileWith("a.example", "b.example", "c.example"))
		for name, after := range map[string]time.Duration{
			"a.example": 0, "b.example": 2 * time.Hour, "c.example": time.Hour, // b was gone in between
		} {
			if got := s.CreatedAt(name).Sub(began); (got - after).Abs() > time.Minute {
				t.Errorf("%s was created %s after the start, want %s", name, got, after)
			}
		}
		if got := s.CreatedAt("d.example"); !got.IsZero() {
			t.Errorf("a name that is not there was created %s", got)
		}
	})
}
