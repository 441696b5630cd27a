package faults_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

// A node whose peers are down, and that restarts with a wrong wall clock, loses none of its changes when its peer
// returns, regardless of the direction of the error.
//
// Fault 11.
func TestClock_ARestartByAWrongClockUndoesNoDecision(t *testing.T) {
	t.Parallel()
	s := testbed.NewSite(t, 2, 0)
	for i, n := range s.Nodes {
		n.File.Overwatch.DNSSEC.KeySync = &harness.KeySync{PollInterval: testbed.SyncPoll, Timeout: 2 * time.Second,
			Secret: "a secret of the nodes, in more than 32 characters",
			Peers:  []string{"http://" + s.Nodes[1-i].API.String()}}
	}
	away, n := s.Nodes[0], s.Nodes[1]
	s.StartNodes(t, s.Nodes...)
	for i, off := range []time.Duration{-10 * time.Minute, -48 * time.Hour, 40 * 24 * time.Hour} {
		d := decideOn(t, away, i)
		sameDigest(t, away, n)
		testbed.Stop(t, away)
		d.undoOn(t, n)
		testbed.Stop(t, n)
		testbed.Start(t, n)
		clock := ownClock(t, n.Unit)
		clock.set(t, off)
		s.Ready(t, n)
		testbed.Until(t, testbed.StartBound, n.Name+" to miss its peer", func(ctx context.Context) error {
			r, err := n.Client.Replication(ctx)
			if err != nil || r.Peers[0].Error == nil {
				return fmt.Errorf("its peers are %+v, %w", r.Peers, err)
			}
			return nil
		})
		clock.set(t, 0)
		testbed.Start(t, away)
		s.Ready(t, away)
		sameDigest(t, away, n)
		for _, node := range s.Nodes {
			if err := d.undone(t.Context(), node); err != nil {
				t.Errorf("after %s, %s: %v", off, node.Name, err)
			}
		}
	}
}

// decisions are the objects that a node receives before its peer stops: a domain to delete, a domain to change, and an
// override to clear.
type decisions struct{ gone, changed, server string }

const decidedAddress = "192.0.2.7"

func decideOn(t *testing.T, n *harness.Node, i int) (d decisions) {
	t.Helper()
	name := func(what string) string { return fmt.Sprintf("%s-%d.%s", what, i, testbed.ZoneName) }
	d = decisions{name("gone"), name("changed"), name("served")}
	var errs error
	for _, one := range []string{d.gone, d.changed, d.server} {
		_, err := n.Client.CreateDomain(t.Context(), api.DomainChange{"name": one})
		errs = errors.Join(errs, err)
	}
	healthy := true
	_, err := n.Client.CreateServer(t.Context(), api.ServerChange{"service": d.server, "address": decidedAddress,
		"port":   80,
		"region": "eu"})
	_, err2 := n.Client.SetOverride(t.Context(), d.server, decidedAddress,
		api.OverrideRequest{Healthy: &healthy, Reason: "test"})
	if err := errors.Join(errs, err, err2); err != nil {
		t.Fatal(err)
	}
	return d
}

func (d decisions) undoOn(t *testing.T, n *harness.Node) {
	t.Helper()
	text := "changed"
	_, err := n.Client.ChangeDomain(t.Context(), d.changed, api.DomainChange{"description": text})
	if err := errors.Join(err, n.Client.DeleteDomain(t.Context(), d.gone),
		n.Client.ClearOverride(t.Context(), d.server, decidedAddress)); err != nil {
		t.Fatal(err)
	}
}

// undone returns an error if a node has lost one of the changes.
func (d decisions) undone(ctx context.Context, n *harness.Node) error {
	domains, err := n.Client.Domains(ctx)
	overrides, err2 := n.Client.Overrides(ctx)
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	if slices.ContainsFunc(domains.Domains, func(o api.Domain) bool { return o.Name == d.gone }) {
		err = fmt.Errorf("%s is back", d.gone)
	}
	changed, err2 := n.Client.Domain(ctx, d.changed)
	if err2 == nil && changed.Domain.Description != "changed" {
		err2 = fmt.Errorf("the description of %s is %q", d.changed, changed.Domain.Description)
	}
	if len(overrides.Overrides) > 0 {
		err2 = errors.Join(err2, fmt.Errorf("there are overrides: %+v", overrides.Overrides))
	}
	return errors.Join(err, err2)
}

// sameDigest waits until two nodes have equal objects.
func sameDigest(t *testing.T, a, b *harness.Node) {
	t.Helper()
	testbed.Until(t, testbed.StartBound, "both nodes to hold the same", func(ctx context.Context) error {
		first, err := a.Client.Replication(ctx)
		second, err2 := b.Client.Replication(ctx)
		if err := errors.Join(err, err2); err != nil || first.Digest != second.Digest ||
			!first.Peers[0].Connected || !second.Peers[0].Connected {
			return fmt.Errorf("they have %+v and %+v, %w", first, second, err)
		}
		return nil
	})
}
