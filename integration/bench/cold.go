//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/integration/harness"
)

const (
	coldNames   = 6
	probePace   = 5 * time.Millisecond
	probeAnswer = 300 * time.Millisecond // timeout of the probe; later answers are late
	probeBound  = 5 * time.Second        // a query without an answer within this time is lost
	coldSettle  = 2 * time.Second        // time between restarts
	coldPromise = 300 * time.Millisecond // the promised bound of the closed address and of the slowest answer
)

// restartCold restarts one of three signed nodes without a service manager, so that no process has its sockets open.
// A probe queries the node continuously. restartCold returns an error if the median duration of lost queries, or the
// median of the slowest answers, exceeds coldPromise.
func restartCold(ctx context.Context, o options, restarts int) error {
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
	r, err := startReplicas(ctx, binaries, true)
	if r != nil {
		defer func() { _ = r.Close() }()
	}
	if err != nil {
		return err
	}
	for i := range coldNames {
		if err := r.create(ctx, fmt.Sprintf("app-%d.%s", i, replicatedZone)); err != nil {
			return err
		}
	}
	if o.places != "" { // used from the first restart
		if r.nodes[0].File.Overwatch.Geolocation.DatabasePath, err = filepath.Abs(o.places); err != nil {
			return err
		}
	}
	closed, unanswered, slowest := &figure{}, &figure{}, &figure{}
	fmt.Println("\n| restart | closed, ms | unanswered, ms | late | lost | slowest answer, ms |")
	fmt.Println("|---|---|---|---|---|---|")
	for i := range restarts {
		time.Sleep(coldSettle)
		row, err := restartOnce(ctx, r.nodes[0])
		if err != nil {
			return err
		}
		closed.add(float64(row.closed.Milliseconds()))
		unanswered.add(float64(row.unanswered.Milliseconds()))
		slowest.add(float64(row.slowest.Milliseconds()))
		fmt.Printf("| %d | %d | %d | %d | %d | %d |\n", i+1, row.closed.Milliseconds(), row.unanswered.Milliseconds(),
			row.late, row.lost, row.slowest.Milliseconds())
	}
	fmt.Printf("\n| | median (min-max) | p99 |\n|---|---|---|\n| closed, ms | %s |\n| unanswered, ms | %s |\n"+
		"| slowest answer, ms | %s |\n", closed, unanswered, slowest)
	if closed.percentile(0.5) > float64(coldPromise.Milliseconds()) {
		return fmt.Errorf("the address was closed for more than the promised %s; is the machine at rest?", coldPromise)
	}
	if slowest.percentile(0.5) > float64(coldPromise.Milliseconds()) {
		return fmt.Errorf("the slowest answer took more than the promised %s; is the machine at rest?", coldPromise)
	}
	return nil
}

// coldRestart contains the results of the probe during a restart.
type coldRestart struct {
	closed     time.Duration // longest period of lost queries
	unanswered time.Duration // longest period without an answer within probeAnswer
	late, lost int
	slowest    time.Duration
}

// restartOnce restarts a node, and probes it from a second before to a second after the restart.
func restartOnce(ctx context.Context, n *harness.Node) (row coldRestart, err error) {
	probing, end := context.WithCancel(ctx)
	results := make(chan []probed)
	go func() { results <- probe(probing, n.DNS.String(), "app-0."+replicatedZone+".") }()
	time.Sleep(time.Second)
	if err = n.Stop(); err == nil {
		err = n.Start()
	}
	if err == nil {
		err = n.Ready(ctx)
	}
	time.Sleep(time.Second)
	end()
	all := <-results
	if err != nil {
		return row, err
	}
	if len(all) == 0 {
		return row, errors.New("the probe sent no query")
	}
	for _, p := range all {
		switch {
		case p.took == 0:
			row.lost++
		case p.took > probeAnswer:
			row.late++
		}
		row.slowest = max(row.slowest, p.took)
	}
	row.closed = longest(all, func(p probed) bool { return p.took == 0 })
	row.unanswered = longest(all, func(p probed) bool { return p.took == 0 || p.took > probeAnswer })
	return row, nil
}

// longest returns the longest period in which all sent queries have a property.
func longest(all []probed, has func(probed) bool) (period time.Duration) {
	var since time.Time // time of the first query of the current period
	for _, p := range all {
		switch {
		case !has(p):
			since = time.Time{}
			continue
		case since.IsZero():
			since = p.sent
		}
		period = max(period, p.sent.Sub(since)+probePace)
	}
	return period
}

// probed is a query of a probe.
type probed struct {
	sent time.Time
	took time.Duration // 0: no answer
}

// probe sends a query for an A record every probePace, each from a separate socket, until ctx ends. It returns the
// queries in the order of sending.
func probe(ctx context.Context, at, name string) []probed {
	var mu sync.Mutex
	var all []probed
	var asking sync.WaitGroup
	tick := time.NewTicker(probePace)
	defer tick.Stop()
	for ctx.Err() == nil {
		<-tick.C
		asking.Go(func() {
			p := probed{sent: time.Now()}
			if answersWithin(at, name, probeBound) {
				p.took = time.Since(p.sent)
			}
			mu.Lock()
			defer mu.Unlock()
			all = append(all, p)
		})
	}
	asking.Wait()
	slices.SortFunc(all, func(a, b probed) int { return a.sent.Compare(b.sent) })
	return all
}

// answersWithin reports whether the answer to a query contains an address and arrives in time.
func answersWithin(at, name string, bound time.Duration) bool {
	conn, err := net.Dial("udp", at)
	if err != nil {
		return false
	}
	defer conn.Close()
	c := &dns.Client{Timeout: bound}
	m, _, err := c.ExchangeWithConn(new(dns.Msg).SetQuestion(name, dns.TypeA), &dns.Conn{Conn: conn})
	return err == nil && m.Rcode == dns.RcodeSuccess && len(m.Answer) > 0
}
