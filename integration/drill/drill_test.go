package drill_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

// An on-call week: each situation is named once by status, events and notifications, each ends, and no answer of the
// validating resolvers is wrong. Nodes name the first four situations from their start on, and the others 15 s later.
func TestDrill_AnOnCallWeek(t *testing.T) {
	w := startWeek(t)
	for _, s := range w.situations(t) {
		t.Run(s.name, func(t *testing.T) { w.play(t, s) })
	}
}

// kinds returns a function that selects all events of some kinds.
func kinds(list ...api.EventKind) func(api.EventKind, string) bool {
	return func(kind api.EventKind, _ string) bool {
		for _, k := range list {
			if k == kind {
				return true
			}
		}
		return false
	}
}

func (w *week) situations(t *testing.T) []situation {
	first, second := w.Nodes[0], w.Nodes[1]
	tell := func(order string, region string) func(*testing.T) {
		return func(t *testing.T) {
			for _, b := range w.in[region] {
				testbed.Tell(t, b, order)
			}
		}
	}
	return []situation{
		{
			name:  "one agent calls all backends of its region ill",
			begin: tell("/unhealthy", "eu"), end: tell("/healthy", "eu"),
			condition: api.AgentsHeld, subjects: []string{"region eu"}, event: api.EventBrake, begun: "begun", over: "ended",
			beside: kinds(api.EventBackend), // the first backend serves no more until the agent reports the second one
		},
		w.badReload(first),
		w.damagedDatabase(second),
		w.plannedDrain("us"),
		{
			name: "a region dies and returns",
			begin: func(t *testing.T) {
				testbed.Kill(t, w.agent["ap"])
				for _, b := range w.in["ap"] {
					testbed.Kill(t, b)
					w.probe.died(b)
				}
			},
			end: func(t *testing.T) {
				for _, b := range w.in["ap"] {
					w.probe.returned(b)
					testbed.Start(t, b)
				}
				testbed.Start(t, w.agent["ap"])
			},
			condition: api.RegionLost, subjects: []string{"ap"}, event: api.EventRegion, begun: "lost", over: "back",
			beside: kinds(api.EventBackend, api.EventRegion),
		},
		{
			name:  "half of the requests of a backend fail",
			begin: func(t *testing.T) { testbed.Tell(t, w.in["us"][0], "/flaky") }, end: tell("/healthy", "us"),
			condition: api.DegradedShare, subjects: []string{"us"}, event: api.EventShare, begun: "reduced", over: "full",
		},
		{
			name:      "a frozen agent",
			begin:     func(t *testing.T) { testbed.Signal(t, w.agent["eu"], syscall.SIGSTOP) },
			end:       func(t *testing.T) { testbed.Signal(t, w.agent["eu"], syscall.SIGCONT) },
			condition: api.AgentLost, subjects: []string{"eu"}, event: api.EventAgent, begun: "silent", over: "back",
			beside: kinds(api.EventBackend),
		},
		w.flaps(w.in["eu"][1]), // which stopped in no situation of the last flapWindow
		w.copiedIdentity(t, "us"),
		w.expiredCertificate(t),
		w.cutOff(),
		w.wipe(second),
		w.undo(t),
		w.roll(),
	}
}

// badReload is a configuration file that the node rejects, and its repair.
func (w *week) badReload(n *harness.Node) situation {
	return situation{
		name: "a bad reload",
		begin: func(t *testing.T) {
			replace(t, n.Path, testbed.Read(t, n.Path)+"surplus: 1\n")
			testbed.HangUp(t, n)
		},
		end:   func(t *testing.T) { testbed.Rewrite(t, n) },
		nodes: []*harness.Node{n}, condition: api.ConfigInvalid, subjects: []string{n.Path},
		event: api.EventReload, begun: "invalid", over: "valid", beside: kinds(api.EventReload),
	}
}

// damagedDatabase is a truncated geolocation database, and its repair.
func (w *week) damagedDatabase(n *harness.Node) situation {
	path := n.File.Overwatch.Geolocation.DatabasePath
	return situation{
		name:  "a damaged MMDB",
		begin: func(t *testing.T) { replace(t, path, database(t)[:1000]) },
		end:   func(t *testing.T) { replace(t, path, database(t)) },
		nodes: []*harness.Node{n}, condition: api.DatabaseUnusable, subjects: []string{path},
		event: api.EventGeo, begun: "unusable", over: "used",
	}
}

// plannedDrain is a drain of a region that begins automatically. Each of its backends has a separate drain.
func (w *week) plannedDrain(region string) situation {
	s := situation{
		name: "a planned drain of a region",
		begin: func(t *testing.T) {
			at := time.Now().Add(plannedAhead).Format(time.RFC3339)
			w.gslbctl(t, "drain", region, "--at", at, "--over", "1s", "--reason", "works", "--yes").Want(t, 0)
			w.gslbctl(t, "orders").Want(t, 0, "planned", "works")
		},
		end:       func(t *testing.T) { w.gslbctl(t, "undrain", region, "--yes").Want(t, 0) },
		condition: api.DrainInForce, event: api.EventDrain, begun: "draining", over: "ended",
		bound:  plannedAhead + namedBound,
		beside: kinds(api.EventDrain),
	}
	for _, b := range w.in[region] {
		s.subjects = append(s.subjects, testbed.AppName+":"+b.At.String())
	}
	return s
}

// plannedAhead is the time between the command and the start of a planned drain.
const plannedAhead = 4 * time.Second

// copiedIdentity is a second machine with the data_dir of an agent.
func (w *week) copiedIdentity(t *testing.T, region string) situation {
	t.Helper()
	original, copied := w.agent[region], w.prepareAgent(t, region+"-copy", region)
	copied.File.Agent.Identity = original.File.Agent.Identity
	return situation{
		name: "a copied identity",
		begin: func(t *testing.T) {
			if err := copyIdentity(copied.File.DataDir, original.File.DataDir); err != nil {
				t.Fatal(err)
			}
			testbed.Start(t, copied)
		},
		end:       func(t *testing.T) { testbed.Kill(t, copied) },
		condition: api.AgentDuplicate, subjects: []string{region}, event: api.EventAgent, begun: "duplicate", over: "unique",
		beside: kinds(api.EventBackend),
	}
}

// cutOff is a network partition between the APIs of the third node and the others. Each side reports the lost nodes.
func (w *week) cutOff() situation {
	last := w.Nodes[len(w.Nodes)-1]
	set := func(shut bool) func(*testing.T) {
		return func(t *testing.T) {
			w.sent(t) // a node without peers repeats what others have sent
			for _, g := range w.gates {
				g.set(shut)
			}
		}
	}
	return situation{
		name: "a network cut between nodes", begin: set(true), end: set(false),
		nodes: w.Nodes[:len(w.Nodes)-1], condition: api.NodeUnheard, subjects: []string{last.Name},
		event: api.EventNode, begun: "lost", over: "back",
		beside: kinds(api.EventNode),
	}
}

// sent waits until no node has queued notifications.
func (w *week) sent(t *testing.T) {
	t.Helper()
	testbed.Until(t, sentBound, "all notifications to be sent", func(ctx context.Context) (err error) {
		for _, n := range w.Nodes {
			list, listErr := n.Client.Notifications(ctx)
			err = errors.Join(err, listErr)
			for _, target := range list.Targets {
				if target.Queued > 0 {
					err = errors.Join(err, fmt.Errorf("%s has %d events for %s", n.Name, target.Queued, target.Name))
				}
			}
		}
		return err
	})
}

// sentBound is the time in which the last of three nodes has queried the others for sent messages.
const sentBound = 20 * time.Second

func (w *week) gslbctl(t *testing.T, argv ...string) testbed.Result {
	t.Helper()
	return w.gslbctlAt(t, w.Nodes, argv...)
}

// gslbctlAt runs gslbctl with some of the nodes.
func (w *week) gslbctlAt(t *testing.T, nodes []*harness.Node, argv ...string) testbed.Result {
	t.Helper()
	argv = append([]string{testbed.Binaries(t).Control}, argv...)
	for _, n := range nodes {
		argv = append(argv, "--api", n.API.String())
	}
	return testbed.Command(t, argv...)
}

// copyIdentity copies the data_dir of an agent, as a cloned machine does.
func copyIdentity(to, from string) error {
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		return err
	}
	return os.Chmod(filepath.Join(to, "agent.key"), 0o600)
}
