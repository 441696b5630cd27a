package failover_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

// A copied data_dir: the node reports the duplicate, and the backend of the original agent serves within two heartbeats
// after the copy has been killed, without a restart of the original.
func TestDuplicate_TheOriginalServesAfterItsCopyStops(t *testing.T) {
	s := testbed.NewSite(t, 1, 2)
	n, original, copied := s.Nodes[0], s.Agents[0], s.Agents[1]
	s.StartPrograms(t)
	testbed.Stop(t, copied)
	if err := os.RemoveAll(copied.File.DataDir); err != nil {
		t.Fatal(err)
	}
	err := os.CopyFS(copied.File.DataDir, os.DirFS(original.File.DataDir))
	if err = errors.Join(err, os.Chmod(filepath.Join(copied.File.DataDir, "agent.key"), 0o600)); err != nil {
		t.Fatal(err)
	}
	copied.File.Agent.Identity.AgentID = original.File.Agent.Identity.AgentID
	began := time.Now()
	testbed.Start(t, copied)
	s.Status(t, n, s.Backends[1], testbed.StartBound, testbed.SoundSince(began))
	testbed.Until(t, testbed.StartBound, "the duplicate to be reported", func(ctx context.Context) error {
		list, err := n.Client.Conditions(ctx)
		agent, agentErr := n.Client.Agent(ctx, original.File.Agent.Identity.AgentID)
		if err = errors.Join(err, agentErr); err != nil {
			return err
		}
		named := slices.ContainsFunc(list.Conditions, func(c api.Condition) bool { return c.Kind == api.AgentDuplicate })
		if !named || len(agent.Problems) != 1 {
			return fmt.Errorf("conditions %+v, problems %q", list.Conditions, agent.Problems)
		}
		return nil
	})
	killed := testbed.Kill(t, copied)
	const slack = 2 * time.Second // for a busy machine
	s.Status(t, n, s.Backends[0], 2*s.Timing.Heartbeat+slack, testbed.StatusIs(api.EffectiveHealthy, true))
	t.Logf("the original's backend serves %s after the copy was killed", time.Since(killed).Round(time.Millisecond))
}
