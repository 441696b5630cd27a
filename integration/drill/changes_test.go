package drill_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

// undo sets a weight through one node and applies a document through another. An undo reverts the document, which is
// the latest change, and the weight stays until an operator clears it.
func (w *week) undo(t *testing.T) situation {
	t.Helper()
	const network = "203.0.113.0/24"
	document := testbed.File(t, "objects.yaml", "mappings:\n  - {cidr: "+network+", region: us}\n")
	b := w.in["eu"][0]
	has := func(t *testing.T, want bool) {
		t.Helper()
		testbed.Until(t, namedBound, "the mapping on all nodes or on none", func(ctx context.Context) error {
			for _, n := range w.Nodes {
				list, err := n.Client.Document(ctx)
				if err != nil || len(list.Mappings) == 1 != want {
					return fmt.Errorf("%s: %+v, %w", n.Name, list.Mappings, err)
				}
			}
			return nil
		})
	}
	return situation{
		name: "undo after changes by two nodes",
		begin: func(t *testing.T) {
			w.gslbctlAt(t, w.Nodes[2:], "weight", testbed.AppName, b.At.String(), "50", "--reason", "works").Want(t, 0)
			w.gslbctlAt(t, w.Nodes[:1], "apply", "-f", document).Want(t, 0)
			has(t, true)
			w.gslbctl(t, "undo").Want(t, 0, "apply of document", "is undone")
			has(t, false)
		},
		end: func(t *testing.T) {
			w.gslbctlAt(t, w.Nodes[1:2], "weight", testbed.AppName, b.At.String(), "--clear").Want(t, 0)
		},
		condition: api.WeightInForce, subjects: []string{testbed.AppName + ":" + b.At.String()},
		event: api.EventWeight, begun: "50", over: "ended",
	}
}

// wipe is a restart of a node without its data_dir. Its peers send it the keys and introduce it to the agents. Nodes
// may name it as lost or rejected until it serves.
func (w *week) wipe(n *harness.Node) situation {
	return situation{
		name: "a wiped node",
		begin: func(t *testing.T) {
			w.sent(t) // another node would repeat a message of a stopped node
			testbed.Stop(t, n)
			if err := os.RemoveAll(n.File.DataDir); err != nil {
				t.Fatal(err)
			}
			testbed.Start(t, n)
			began := time.Now()
			w.Ready(t, n)
			for _, b := range w.Backends {
				w.Status(t, n, b, testbed.StartBound, testbed.SoundSince(began))
			}
			w.oneKey(t)
		},
		end:   w.sent,
		bound: testbed.StartBound, beside: kinds(api.EventNode),
	}
}

// roll is a rollover of the zone's key. All nodes restart with a lower TTL while resolvers may have the old DNSKEY
// records for the first TTL. The rollover waits for the first TTL. An operator cancels it while the parent zone has no
// new DS record.
func (w *week) roll() situation {
	return situation{
		name: "a key rollover with a restart with lower TTLs",
		begin: func(t *testing.T) {
			w.sent(t) // as in wipe
			began := time.Now()
			w.gslbctlAt(t, w.Nodes[:1], "dnssec", "roll", testbed.ZoneName, "--yes").Want(t, 0)
			w.rollIs(t, w.Nodes, "published", api.RollPublished)
			for _, n := range w.Nodes {
				n.File.DNS.ApexTTL, n.File.DNS.NegativeTTL = lowTTL, lowTTL
				testbed.Stop(t, n)
				testbed.Start(t, n)
				w.Ready(t, n)
			}
			w.rollIs(t, w.Nodes[:1], "offered", api.RollOffered)
			if took := time.Since(began); took < firstTTL*time.Second {
				t.Errorf("the new key was offered after %s, and resolvers have the old keys for %d s", took, firstTTL)
			}
			w.gslbctlAt(t, w.Nodes[:1], "dnssec", "roll", testbed.ZoneName, "--cancel", "--yes").Want(t, 0)
		},
		end: func(t *testing.T) {
			w.rollIs(t, w.Nodes, "done", api.RollDone)
			w.oneKey(t)
			w.sent(t)
		},
		bound: testbed.StartBound, beside: kinds(api.EventNode, api.EventKey),
	}
}

// rollIs waits until the rollover of the zone is in a stage on nodes.
func (w *week) rollIs(t *testing.T, nodes []*harness.Node, what string, stage api.RollStage) {
	t.Helper()
	testbed.Until(t, rollBound, "the key rollover to be "+what, func(ctx context.Context) (err error) {
		for _, n := range nodes {
			list, listErr := n.Client.Rolls(ctx)
			if err = errors.Join(err, listErr); len(list.Rolls) != 1 || list.Rolls[0].Stage != stage {
				err = errors.Join(err, fmt.Errorf("%s: %s", n.Name, describeRolls(list)))
			}
		}
		return err
	})
}

// rollBound is the time until the next stage: the TTL, the margin and the queries of the nodes to one another.
const rollBound = 45 * time.Second

func describeRolls(list api.Rolls) string {
	var all []string
	for _, r := range list.Rolls {
		text := fmt.Sprintf("%s since %s", r.Stage, r.Since.Format(time.TimeOnly))
		if r.WaitsFor != nil {
			text += ", waits for " + *r.WaitsFor
		}
		all = append(all, text)
	}
	return strings.Join(all, "; ")
}
