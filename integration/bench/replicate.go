//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/integration/harness"
	"gslb.internal/shared/api"
)

const (
	replicatedZone   = "test.gslb.test"
	replicatedSecret = "a secret of the nodes, in more than 32 characters"
	replicatedNodes  = 3
	replicateBound   = 2 * time.Minute
	// The documented limits.
	reachPromise = 200 * time.Millisecond // p99
	wipedPromise = 10 * time.Second
	idlePromise  = 0.001 // fraction of a core
)

// replicate measures what the documentation limits for replication: the time until all nodes answer with a change, the
// time until a wiped node has many objects, and the CPU time of an idle cluster. It returns an error if a value exceeds
// its limit.
func replicate(ctx context.Context, o options, objects int) error {
	scratch, err := os.MkdirTemp("", "gslb-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	binaries, err := harness.Build(ctx, o.bin, scratch)
	if err != nil {
		return err
	}
	o.tell()
	reach, wiped, idle := &figure{}, &figure{}, &figure{}
	for _, measure := range []func() error{
		func() error { return measureReach(ctx, binaries, 200*o.rounds, reach) },
		func() error { return measureIdle(ctx, binaries, o, idle) },
		func() error { return measureWiped(ctx, binaries, objects, o.rounds, wiped) },
	} {
		if err := measure(); err != nil {
			return err
		}
	}
	fmt.Println("\n| | median (min-max) | p99 | promised |\n|---|---|---|---|")
	fmt.Printf("| a change in the answers of %d nodes, ms | %s | %.0f |\n", replicatedNodes, reach,
		reachPromise.Seconds()*1e3)
	fmt.Printf("| %d objects on a wiped node, s | %s | %.0f |\n", objects, wiped, wipedPromise.Seconds())
	fmt.Printf("| an idle node's part of a core, %% | %s | %.1f |\n", idle, idlePromise*1e2)
	if reach.percentile(0.99) > reachPromise.Seconds()*1e3 || wiped.percentile(1) > wipedPromise.Seconds() ||
		idle.percentile(0.5) > idlePromise*1e2 {
		return errors.New("a figure exceeds its bound, see the table; measure on an idle machine")
	}
	return nil
}

// figure is a set of measured values.
type figure struct{ values []float64 }

func (f *figure) add(v float64) { f.values = append(f.values, v) }

func (f *figure) percentile(part float64) float64 {
	slices.Sort(f.values)
	return f.values[min(len(f.values)-1, int(part*float64(len(f.values))))]
}

func (f *figure) String() string {
	median, least, most := spread(f.values)
	return fmt.Sprintf("%.3g (%.3g-%.3g) | %.3g", median, least, most, f.percentile(0.99))
}

// replicas is a cluster of nodes, with or without replication.
type replicas struct {
	*harness.Cluster
	nodes []*harness.Node
}

// startReplicas starts nodes. With replication, it waits until they are connected and have the same objects.
func startReplicas(ctx context.Context, binaries harness.Binaries, together bool) (r *replicas, err error) {
	c, err := harness.NewCluster(harness.Options{Binaries: binaries, Timing: harness.Fast()})
	if err != nil {
		return nil, err
	}
	r = &replicas{Cluster: c}
	for i := range replicatedNodes {
		n, err := c.AddNode(fmt.Sprint("ow-", i+1), "eu", map[string][]harness.Server{"eu": nil})
		if err != nil {
			return r, err
		}
		n.File.DNS.Zones, n.File.Overwatch.Validation.CheckInterval = []string{replicatedZone}, time.Minute
		r.nodes = append(r.nodes, n)
	}
	for _, n := range r.nodes {
		if together {
			sync := &harness.KeySync{PollInterval: time.Hour, Timeout: 5 * time.Second, Secret: replicatedSecret}
			for _, other := range r.nodes {
				sync.Peers = append(sync.Peers, "http://"+other.API.String())
			}
			n.File.Overwatch.DNSSEC.KeySync, n.File.Overwatch.Replication.Enabled = sync, true
		}
		for _, other := range r.nodes { // nodes without replication gossip as well, so that the difference is replication
			n.File.Overwatch.Gossip.Seeds = append(n.File.Overwatch.Gossip.Seeds, other.Gossip.String())
		}
		if err := n.Start(); err != nil {
			return r, err
		}
	}
	if !together {
		return r, nil
	}
	return r, harness.Until(ctx, "all nodes to replicate", func(ctx context.Context) error {
		for _, n := range r.nodes {
			s, err := n.Client.Replication(ctx)
			if err != nil || s.Joining || len(s.Peers) != replicatedNodes-1 || !s.Peers[0].Connected || !s.Peers[1].Connected {
				return fmt.Errorf("%s: %+v, %w", n.Name, s, err)
			}
		}
		return nil
	})
}

// create creates a name with a server that serves because of an override.
func (r *replicas) create(ctx context.Context, name string) error {
	c, healthy := r.nodes[0].Client, true
	if _, err := c.CreateDomain(ctx, api.DomainChange{"name": name}); err != nil {
		return err
	}
	if _, err := c.CreateServer(ctx, api.ServerChange{"service": name, "address": "192.0.2.1", "port": 80,
		"region": "eu"}); err != nil {
		return err
	}
	_, err := c.SetOverride(ctx, name, "192.0.2.1", api.OverrideRequest{Healthy: &healthy, Reason: "bench"})
	return err
}

// measureReach changes a name on the nodes in rotation, and queries all nodes concurrently. It adds the time from the
// start of the call to the first new answer of the last node.
func measureReach(ctx context.Context, binaries harness.Binaries, changes int, f *figure) error {
	r, err := startReplicas(ctx, binaries, true)
	if r != nil {
		defer func() { _ = r.Close() }()
	}
	if err != nil {
		return err
	}
	const name = "app." + replicatedZone
	if err := r.create(ctx, name); err != nil {
		return err
	}
	for i := range changes {
		time.Sleep(time.Duration(20+rand.IntN(130)) * time.Millisecond)
		at := r.nodes[i%len(r.nodes)]
		began, ttl := time.Now(), 1000+i
		change := func() (err error) {
			_, err = at.Client.ChangeDomain(ctx, name, api.DomainChange{"ttl": ttl})
			return err
		}
		good := func(m *dns.Msg) bool { return len(m.Answer) > 0 && m.Answer[0].Header().Ttl == uint32(ttl) }
		if i%2 == 1 { // every other change concerns the server
			healthy := i%4 == 3
			change = func() (err error) {
				_, err = at.Client.SetOverride(ctx, name, "192.0.2.1", api.OverrideRequest{Healthy: &healthy,
					Reason: "bench"})
				return err
			}
			good = func(m *dns.Msg) bool { return (m.Rcode == dns.RcodeSuccess) == healthy }
		}
		if i%4 == 2 { // the answer has no address and therefore no visible TTL
			continue
		}
		took, err := r.reached(ctx, name, began, change, good)
		if err != nil {
			return fmt.Errorf("change %d: %w", i, err)
		}
		f.add(took.Seconds() * 1e3)
	}
	return nil
}

// reached makes a change and returns the time from began until the last node answers with the change.
func (r *replicas) reached(ctx context.Context, name string, began time.Time, change func() error,
	good func(*dns.Msg) bool) (most time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, replicateBound)
	defer cancel()
	var asking sync.WaitGroup
	took, failed := make([]time.Duration, len(r.nodes)), make([]error, len(r.nodes)+1)
	for i, n := range r.nodes {
		asking.Go(func() { took[i], failed[i] = until(ctx, n, name, began, good) })
	}
	failed[len(r.nodes)] = change()
	asking.Wait()
	return slices.Max(took), errors.Join(failed...)
}

// until queries a node until its answer is good, and returns the time since began.
func until(ctx context.Context, n *harness.Node, name string, began time.Time, good func(*dns.Msg) bool) (time.Duration,
	error) {
	client := &dns.Client{Timeout: time.Second}
	for ctx.Err() == nil {
		reply, _, err := client.ExchangeContext(ctx, new(dns.Msg).SetQuestion(name+".", dns.TypeA), n.DNS.String())
		if err == nil && good(reply) {
			return time.Since(began), nil
		}
		time.Sleep(time.Millisecond)
	}
	return 0, fmt.Errorf("%s does not answer %s as it should: %w", n.Name, name, ctx.Err())
}

// measureWiped creates many objects in a cluster, wipes the disk of a node, and waits until the node answers for all of
// them.
func measureWiped(ctx context.Context, binaries harness.Binaries, objects, rounds int, f *figure) error {
	r, err := startReplicas(ctx, binaries, true)
	if r != nil {
		defer func() { _ = r.Close() }()
	}
	if err != nil {
		return err
	}
	const last, each = "last." + replicatedZone, 200
	if err := r.create(ctx, last); err != nil {
		return err
	}
	for from := 3; from < objects; from += each { // a name, its server and an override exist
		var document api.Document
		for i := from; i < min(from+each, objects); i++ {
			name := fmt.Sprintf("n%05d.%s", i, replicatedZone)
			document.Domains = append(document.Domains, api.DocumentDomain{"name": name})
		}
		if _, err := r.nodes[0].Client.Apply(ctx, api.ApplyRequest{Owner: "bench", Document: document}); err != nil {
			return err
		}
	}
	wiped := r.nodes[replicatedNodes-1]
	for range rounds {
		if err := wiped.Stop(); err != nil {
			return err
		}
		if err := os.RemoveAll(wiped.File.DataDir); err != nil {
			return err
		}
		began := time.Now()
		if err := wiped.Start(); err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(ctx, replicateBound)
		err := harness.Until(ctx, "a wiped node to have all", func(ctx context.Context) error {
			s, err := wiped.Client.Replication(ctx)
			if err != nil || s.Objects < objects || len(s.Refused) > 0 {
				return fmt.Errorf("%d objects, %w", s.Objects, err)
			}
			return nil
		})
		if err == nil {
			_, err = until(ctx, wiped, last, began, func(m *dns.Msg) bool { return len(m.Answer) > 0 })
		}
		cancel()
		if err != nil {
			return err
		}
		f.add(time.Since(began).Seconds())
	}
	return nil
}

// measureIdle compares the CPU time of idle nodes with and without replication, at the same time.
func measureIdle(ctx context.Context, binaries harness.Binaries, o options, f *figure) error {
	var clusters []*replicas
	for _, together := range []bool{true, false} {
		r, err := startReplicas(ctx, binaries, together)
		if r != nil {
			defer func() { _ = r.Close() }()
		}
		if err != nil {
			return err
		}
		clusters = append(clusters, r)
	}
	length := time.Duration(30 * o.seconds * float64(time.Second))
	for range o.rounds + 1 {
		before, err := processTimes(clusters)
		if err != nil {
			return err
		}
		time.Sleep(length)
		after, err := processTimes(clusters)
		if err != nil {
			return err
		}
		f.add(((after[0] - before[0]) - (after[1] - before[1])).Seconds() / replicatedNodes / length.Seconds() * 1e2)
	}
	f.values = f.values[1:] // the first value includes the remaining work of the start
	return ctx.Err()
}

// processTimes returns the total CPU time of each cluster's nodes.
func processTimes(clusters []*replicas) (sums []time.Duration, err error) {
	for _, r := range clusters {
		var sum time.Duration
		for _, n := range r.nodes {
			one, err := processTime(n.PID())
			if err != nil {
				return nil, err
			}
			sum += one
		}
		sums = append(sums, sum)
	}
	return sums, nil
}
