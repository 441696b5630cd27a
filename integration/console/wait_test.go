package console_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/testbed"
)

// hang is the time limit of each wait. Only a hang exceeds it.
const hang = 60 * time.Second

// backendsOfNames counts the backends of the three names.
const backendsOfNames = 5 + 5 + 4

// allHealthy waits until a node serves every backend.
func (s *scene) allHealthy(t *testing.T, n *harness.Node) {
	t.Helper()
	testbed.Until(t, hang, n.Name+" to serve every backend", func(ctx context.Context) error {
		stats, err := n.Client.Stats(ctx)
		if err == nil && stats.HealthyBackends != backendsOfNames {
			err = fmt.Errorf("%d of %d are healthy", stats.HealthyBackends, backendsOfNames)
		}
		return err
	})
}
