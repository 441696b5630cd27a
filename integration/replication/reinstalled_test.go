package replication_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"gslb.internal/integration/harness/testbed"
)

// A node that lost its data_dir accepts its agents again without changes on their machines: its peers send the new
// certificate to the agents. The node is ready only when it serves the name that its peers serve.
func TestReinstalled_PeersIntroduceTheNodeToItsAgents(t *testing.T) {
	t.Parallel()
	const bound = 30 * time.Second
	s := replicating(t, 1)
	s.StartPrograms(t)
	address := s.Backends[0].At.Addr().String()
	answers(t, testbed.AppName, []string{address}, s.Nodes...)
	wiped := s.Nodes[1]
	testbed.Stop(t, wiped)
	if err := os.RemoveAll(wiped.File.DataDir); err != nil {
		t.Fatal(err)
	}
	testbed.Start(t, wiped)
	testbed.Until(t, bound, "the reinstalled node to be ready", func(ctx context.Context) error {
		r, err := wiped.Client.Readiness(ctx)
		if err == nil && !r.Ready {
			err = errors.New(r.Message)
		}
		return err
	})
	answers(t, testbed.AppName, []string{address}, wiped)
	testbed.Until(t, bound, "no node to be rejected", func(ctx context.Context) error {
		for _, n := range s.Nodes {
			list, err := n.Client.Conditions(ctx)
			if err != nil {
				return err
			}
			for _, c := range list.Conditions {
				if c.Kind == "node_rejected" {
					return fmt.Errorf("%s: %s", n.Name, c.Sentence)
				}
			}
		}
		return nil
	})
}
