// Package fleet creates thousands of agents, each with a service and some backends.
package fleet

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"gslb.internal/integration/harness/agent"
	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/wire"
)

const (
	BackendsEach = 3                // number of backends per agent
	Interval     = 10 * time.Second // interval of each agent's heartbeats
)

// Wait waits for d between two messages of an agent. It returns false if ctx ends.
func Wait(ctx context.Context, d time.Duration) bool {
	over := time.NewTimer(d)
	defer over.Stop()
	select {
	case <-over.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// Cipher returns the cipher for a gossip key, or fails the test.
func Cipher(t *testing.T, gossipKey string) *agent.Cipher {
	t.Helper()
	c, err := agent.NewCipher(gossipKey)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Agent is an agent of a service with BackendsEach backends.
type Agent struct {
	*agent.Agent
	Backends []wire.Backend
}

// New makes the i-th agent. The addresses of the agent and its backends are unique. A nil clock is the system clock.
func New(dir string, i int, c *agent.Cipher, node netip.AddrPort, service, token string,
	clock func() time.Time) (*Agent, error) {
	known, err := agent.New(agent.Options{
		Dir: dir, Name: fmt.Sprintf("fleet-%05d", i), Cipher: c, Node: node, Tokens: map[string]string{service: token},
		Source: netip.AddrFrom4([4]byte{127, 80, byte(i >> 8), byte(i)}), Clock: clock,
	})
	if err != nil {
		return nil, err
	}
	a := &Agent{Agent: known}
	for k := range BackendsEach {
		a.Backends = append(a.Backends, wire.Backend{
			Service: service, Address: netip.AddrFrom4([4]byte{10, byte(k), byte(i >> 8), byte(i)}), Port: 8080, Weight: 100,
			Claim: wire.ClaimHealthy,
			Check: wire.Check{Type: "http", Path: "/health", IntervalMillis: 5000, TimeoutMillis: 2000, FailureThreshold: 3,
				SuccessThreshold: 2},
		})
	}
	return a, nil
}

// Beat sends a heartbeat with all backends, and waits for its acknowledgement.
func (a *Agent) Beat() error { return a.Heartbeat(Interval, a.Backends) }

// Registers registers the agent with its node. It retries like gslb-agent on a slow machine.
func (a *Agent) Registers(t *testing.T) {
	t.Helper()
	testbed.Until(t, 3*agent.AckTime, a.Name+" to be registered", func(context.Context) error {
		return errors.Join(a.Hello(), a.Enrol(false, agent.AckTime))
	})
}

// Keeps sends heartbeats until the node accepts one of them.
func (a *Agent) Keeps(t *testing.T) {
	t.Helper()
	testbed.Until(t, 2*agent.AckTime, "a heartbeat of "+a.Name+" to be taken",
		func(context.Context) error { return a.Beat() })
}
