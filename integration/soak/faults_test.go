package soak_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"syscall"
	"testing"
	"time"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

// disturbed returns the number of backends that may be missing from the answers. At least two of four backends have no
// fault.
func (k *soak) disturbed() (count int) {
	for _, l := range k.lives {
		if l.dead || l.ordered {
			count++
		}
	}
	return count
}

// fault begins or ends one random fault.
func (k *soak) fault(t *testing.T) {
	i := k.random.IntN(len(k.Backends))
	n := k.Nodes[k.random.IntN(len(k.Nodes))]
	b, a, l := k.Backends[i], k.Agents[i], &k.lives[i]
	k.faults++
	what := ""
	kinds := 8
	if k.ways != nil {
		kinds += 4
	}
	switch k.random.IntN(kinds) {
	case 0, 1: // a backend dies or returns
		switch {
		case l.dead:
			testbed.Start(t, b)
			*l = life{since: time.Now(), frozen: l.frozen, ordered: l.ordered}
			what = b.Name + " returns"
		case (k.disturbed() < 2 || l.ordered) && k.spared(i):
			killed := testbed.Kill(t, b)
			l.dead, l.since = true, killed
			what = b.Name + " dies"
		}
	case 2: // an agent dies or returns
		if a.Running() {
			testbed.Kill(t, a)
			l.frozen = false
			what = a.Name + " dies"
		} else {
			testbed.Start(t, a)
			what = a.Name + " returns"
		}
	case 3: // an agent hangs or goes on
		if a.Running() {
			signal := syscall.SIGSTOP
			if l.frozen {
				signal = syscall.SIGCONT
			}
			if err := a.Signal(signal); err != nil {
				t.Fatal(err)
			}
			l.frozen = !l.frozen
			what = fmt.Sprintf("%s %s", a.Name, map[bool]string{true: "hangs", false: "goes on"}[l.frozen])
		}
	case 4: // a node dies and is started again
		k.judge(t)
		testbed.Kill(t, n)
		delete(k.up, n)
		testbed.Start(t, n)
		k.up[n] = time.Now()
		what = n.Name + " is killed and restarted"
	case 5:
		testbed.Speaks(t, n.Unit, k.up[n])
		testbed.Signal(t, n, syscall.SIGHUP)
		what = n.Name + " reloads"
	case 6: // an operator's order, on both nodes
		healthy := l.ordered
		if l.ordered || k.disturbed() < 2 && !l.dead && k.spared(i) {
			for _, n := range k.Nodes {
				k.order(t, n, b, healthy)
			}
			l.ordered = !l.ordered
			what = fmt.Sprintf("%s ordered %s", b.Name, map[bool]string{true: "out", false: "back"}[l.ordered])
		}
	case 7: // a domain comes and goes
		name := fmt.Sprintf("new-%d.test.gslb.test", k.random.IntN(3))
		if _, err := n.Client.CreateDomain(t.Context(), api.DomainChange{"name": name,
			"regions": []string{"eu"}}); err != nil {
			_ = n.Client.DeleteDomain(t.Context(), name) // it was there, or the node is just starting
		}
		what = name + " comes or goes"
	default:
		k.judge(t)
		what = k.ways.fault(t, k)
	}
	if what != "" {
		k.Story.Event("%s", what)
	}
}

// order removes a backend from the answers by an override, or deletes the override. It retries until a starting node
// responds.
func (k *soak) order(t *testing.T, n *harness.Node, b *harness.Backend, lift bool) {
	t.Helper()
	k.Ready(t, n)
	no := false
	address := b.At.String()
	testbed.Until(t, testbed.StartBound, fmt.Sprintf("%s to take the order about %s", n.Name, address),
		func(ctx context.Context) error {
			if !lift {
				_, err := n.Client.SetOverride(ctx, testbed.AppName, address,
					api.OverrideRequest{Healthy: &no, Reason: "the soak test"})
				return err
			}
			err := n.Client.ClearOverride(ctx, testbed.AppName, address)
			if refused, is := errors.AsType[*api.Error](err); is && refused.Status == http.StatusNotFound {
				return nil // it was taken when it was asked before, and the answer came too late
			}
			return err
		})
}

// heal ends all faults.
func (k *soak) heal(t *testing.T) {
	if k.ways != nil {
		k.ways.heal(t)
	}
	for i, b := range k.Backends {
		l := &k.lives[i]
		if l.frozen {
			testbed.Signal(t, k.Agents[i], syscall.SIGCONT)
		}
		if l.ordered {
			for _, n := range k.Nodes {
				k.order(t, n, b, true)
			}
		}
		if l.dead {
			testbed.Start(t, b)
			l.since = time.Now()
		}
		*l = life{since: l.since}
		if !k.Agents[i].Running() {
			testbed.Start(t, k.Agents[i])
		}
	}
	k.Story.Event("everything is made well")
}

// settle waits until every node reports no problem, and verifies signatures.
func (k *soak) settle(t *testing.T) {
	for _, n := range k.Nodes {
		k.Ready(t, n)
		for _, b := range k.Backends {
			k.Status(t, n, b, testbed.HeardAgainBound, testbed.WantSound)
		}
	}
	k.verify(t)
}
