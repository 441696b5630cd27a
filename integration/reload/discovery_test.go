package reload_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

// A node checks a backend of a backends file and answers with it. A truncated file changes nothing. A removed file
// drains its backends and then removes them.
func TestDiscovery_AFileBringsBackendsAndTakesThem(t *testing.T) {
	s := testbed.NewSite(t, 1, 2)
	n, a, found := s.Nodes[0], s.Agents[0], s.Backends[1]
	s.Agents = s.Agents[:1]
	dir := t.TempDir()
	check := s.Timing.Check()
	a.File.Agent.BackendsFrom = []harness.BackendsFrom{{File: filepath.Join(dir, "*.yaml"), HealthCheck: check}}
	a.File.Agent.DrainTime = 3 * time.Second // long enough to be seen
	for _, b := range s.Backends {
		testbed.Start(t, b)
	}
	testbed.Start(t, n)
	testbed.Start(t, a)
	backends := func(what string, judge func([]api.Backend) error) {
		t.Helper()
		testbed.Until(t, time.Minute, what, func(ctx context.Context) error {
			list, err := n.Client.Backends(ctx, api.BackendFilter{})
			if err != nil {
				return err
			}
			return judge(list.Backends)
		})
	}
	serving := func(want int) func([]api.Backend) error {
		return func(list []api.Backend) error {
			serve := 0
			for _, b := range list {
				if b.MayServe {
					serve++
				}
			}
			if serve != want || len(list) != want {
				return fmt.Errorf("%d of %d serve", serve, len(list))
			}
			return nil
		}
	}
	backends("the backend of the configuration", serving(1))
	s.WatchAnswers(t)

	at := filepath.Join(dir, "b.yaml")
	text := fmt.Sprintf("- targets: [%q]\n  labels: {service: %s, weight: '100'}\n", found.At, testbed.AppName)
	write := func(text string) {
		t.Helper()
		testbed.Write(t, at+".new", 0o600, text)
		if err := os.Rename(at+".new", at); err != nil {
			t.Fatal(err)
		}
	}
	write(text)
	s.Answered(t, n, found.At.Addr(), s.Began, time.Minute)
	backends("both backends", serving(2))

	write(text[:len(text)/2])
	testbed.Until(t, time.Minute, "the agent to reject the file", func(context.Context) error {
		return testbed.Said(a.Unit, "a file with backends is invalid", "b.yaml:")
	})
	backends("both backends", serving(2))
	s.Answered(t, n, found.At.Addr(), time.Now(), time.Minute)

	if err := os.Remove(at); err != nil {
		t.Fatal(err)
	}
	backends("the drain", func(list []api.Backend) error {
		for _, b := range list {
			if b.Address == found.At.Addr().String() && b.Draining {
				return nil
			}
		}
		return fmt.Errorf("%+v", list)
	})
	backends("the backend to be gone", serving(1))
}
