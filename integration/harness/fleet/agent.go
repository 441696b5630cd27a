// Package fleet has agents of one service with some backends each, many of which are a fleet.
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
	BackendsEach = 3                // of each agent
	Interval     = 10 * time.Second // of each agent's heartbeats
)

// Wait is an agent's time between two messages. It reports false if ctx ended.
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

// Cipher returns the cluster's gossip key at work.
func Cipher(t *testing.T, gossipKey string) *agent.Cipher {
	t.Helper()
	c, err := agent.NewCipher(gossipKey)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Agent is an agent of one service with some backends.
type Agent struct {
	*agent.Agent
	Backends []wire.Backend
}

// New makes the i-th agent. Its source address and those of its backends belong to nobody else. A clock of
// nil is that of the system.
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

// Beat sends the whole state.
func (a *Agent) Beat() error { return a.Heartbeat(Interval, a.Backends) }

// Registers has a node take the agent as one that it knows, and goes on trying on a machine that is late, as
// gslb-agent does.
func (a *Agent) Registers(t *testing.T) {
	t.Helper()
	testbed.Until(t, 3*agent.AckTime, a.Name+" to be registered", func(context.Context) error {
		return errors.Join(a.Hello(), a.Enrol(false, agent.AckTime))
	})
}

// Keeps has a node take a heartbeat, in the same way.
func (a *Agent) Keeps(t *testing.T) {
	t.Helper()
	testbed.Until(t, 2*agent.AckTime, "a heartbeat of "+a.Name+" to be taken",
		func(context.Context) error { return a.Beat() })
}
