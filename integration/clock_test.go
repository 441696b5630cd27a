package integration_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gslb.internal/shared/api"
	"gslb.internal/shared/identity"
)

// Row 12: an agent whose clock is a day ahead or behind, when it makes its certificate and in all that it says, is taken like any other, and
// the node tells of it once. What a jump of the node's own clock does (row 11) is tested in virtual time, in the packages.
func TestClock_AnAgentThatIsADayOffIsTakenAndToldOnce(t *testing.T) {
	s := startSite(t, 1, 2)
	n := s.nodes[0]
	cipher := newCipherText(t, s.GossipKey)
	for i, off := range []time.Duration{24 * time.Hour, -24 * time.Hour} {
		dir := t.TempDir()
		name := []string{"fleet-00001", "fleet-00002"}[i]
		if _, _, err := identity.LoadOrCreate(filepath.Join(dir, name+".crt"), filepath.Join(dir, name+".key"), name, time.Now().Add(off)); err != nil {
			t.Fatal(err)
		}
		agent, err := newFleetAgent(dir, i+1, cipher, n.Gossip, otherName, s.Tokens[otherName])
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { agent.udp.Close() })
		go agent.read()
		agent.ahead = off
		agent.epoch = uint64(time.Now().Add(off).UnixMilli())
		if err := errors.Join(agent.hello(), agent.enrol(false, ackTime)); err != nil {
			t.Fatalf("%s off: %v", off, err)
		}
		for range 3 {
			if err := agent.heartbeat(); err != nil {
				t.Fatalf("%s off: %v", off, err)
			}
		}
		told := func() (count int) {
			for _, l := range n.Output() {
				if strings.Contains(l.Text, "clock and ours differ") && strings.Contains(l.Text, name) {
					count++
				}
			}
			return count
		}
		until(t, startBound, "the clock of "+name+" to be mentioned", func(context.Context) error {
			if told() == 0 {
				return errors.New("it is not")
			}
			return nil
		})
		if count := told(); count != 1 {
			t.Errorf("the clock of %s was mentioned %d times", name, count)
		}
	}
	list, err := n.Client.Backends(t.Context(), api.BackendFilter{Service: otherName})
	if err != nil {
		t.Fatal(err)
	}
	if len(list.Backends) != 2*fleetBackends {
		t.Errorf("the node took %d backends of two agents, want %d", len(list.Backends), 2*fleetBackends)
	}
	s.noFailures(t, n, s.began)
}
