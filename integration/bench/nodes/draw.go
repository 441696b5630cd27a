package main

import (
	"fmt"
	"math/rand/v2"
	"time"

	"gslb.internal/integration/harness/plot"
)

const (
	// fewPeers is the number of polled peers per node in clusters where a node does not poll all others.
	fewPeers = 6
	// changes is the number of changes in each simulated cluster.
	changes = 100
)

// Measured values (overwatch/docs/capacity.md), as fractions of a core.
const (
	perAgent = 0.24 / 10_000          // heartbeats and pings of an agent with three backends
	perCheck = 280 * time.Microsecond // http check, including the answering side
	// Packets between an agent and a node: a ping every two seconds, a heartbeat every ten, and the answers.
	perPair = 2 * (1.0/2 + 1.0/10)
)

// The cluster of the rates.
const (
	agents   = 10_000
	backends = 5_000
	interval = 5 * time.Second
	sharing  = 3 // number of nodes per backend or agent, if nodes share the work
)

// drawReplication simulates clusters of each size with a change every other second on average. It prints a table and
// adds the charts.
func drawReplication(charts map[string]plot.Chart, seed uint64) {
	var took, rest, each, exchanges [2]plot.Line
	fmt.Println("| nodes | polls | a change is everywhere after, median and p99 | exchanges a change | " +
		"a node at rest | a change costs each node | one core is full at |\n|---|---|---|---|---|---|---|")
	for kind, few := range []int{0, fewPeers} {
		name := "all ask all"
		if few > 0 {
			name = fmt.Sprintf("each polls %d", few)
		}
		for _, line := range []*plot.Line{&took[kind], &rest[kind], &each[kind], &exchanges[kind]} {
			line.Name = name
		}
		for _, size := range sizes() {
			if few >= size {
				continue
			}
			r := rand.New(rand.NewPCG(seed, uint64(size)))
			c := newCluster(size, few, r)
			atRest, of, total := c.run(changes, 0.5, r)
			median, p99 := c.took[changes/2], c.took[changes*99/100]
			cost := of.Seconds() * 1e3
			add := func(l *plot.Line, y float64) { l.Points = append(l.Points, plot.Point{float64(size), y}) }
			add(&took[kind], float64(p99.Milliseconds()))
			add(&rest[kind], 100*atRest)
			add(&each[kind], cost)
			add(&exchanges[kind], total)
			fmt.Printf("| %d | %s | %d, %d ms | %.0f | %.2f %% | %.0f ms | %.0f a second |\n", size, name,
				median.Milliseconds(), p99.Milliseconds(), total, 100*atRest, cost, 1000/cost)
		}
	}
	for file, c := range map[string]plot.Chart{
		"nodes-change.svg":    {Title: "Until a change is on all nodes, p99", Y: "ms", Lines: took[:]},
		"nodes-rest.svg":      {Title: "Replication at rest, of each node", Y: "% of a core", Lines: rest[:]},
		"nodes-cost.svg":      {Title: "What one change costs each node", Y: "ms of a core", Lines: each[:]},
		"nodes-exchanges.svg": {Title: "Exchanges that one change causes", Y: "exchanges", Lines: exchanges[:]},
	} {
		c.X = "nodes"
		charts[file] = c
	}
}

// drawRates multiplies the events per second by the measured cost of an event, for clusters of each size. It prints a
// table and adds the charts.
func drawRates(charts map[string]plot.Chart) {
	all, shared := "every node", fmt.Sprintf("%d nodes", sharing)
	var checks, asked, heard, packets [2]plot.Line
	fmt.Printf("\n| nodes | checks by | of a core | a backend is asked | agents to | of a core | packets of an agent | " +
		"key exchanges |\n|---|---|---|---|---|---|---|---|\n")
	for kind, name := range []string{all, shared} {
		for _, line := range []*plot.Line{&checks[kind], &asked[kind], &heard[kind], &packets[kind]} {
			line.Name = name
		}
		for _, size := range sizes() {
			by := size
			if kind == 1 {
				by = min(size, sharing)
			}
			part := float64(by) / float64(size)
			add := func(l *plot.Line, y float64) float64 {
				l.Points = append(l.Points, plot.Point{float64(size), y})
				return y
			}
			fmt.Printf("| %d | %s | %.3f | %.1f/s | %s | %.3f | %.0f/s | %d/h |\n", size, name,
				add(&checks[kind], backends*part*perCheck.Seconds()/interval.Seconds()),
				add(&asked[kind], float64(by)/interval.Seconds()), name,
				add(&heard[kind], agents*part*perAgent),
				add(&packets[kind], float64(by)*perPair), size*(size-1))
		}
	}
	of := fmt.Sprintf("%d backends, http, every %s", backends, interval)
	for file, c := range map[string]plot.Chart{
		"nodes-checks.svg":  {Title: "Checks of each node: " + of, Y: "cores", Lines: checks[:]},
		"nodes-asked.svg":   {Title: "Checks that one backend answers", Y: "a second", Lines: asked[:]},
		"nodes-agents.svg":  {Title: fmt.Sprintf("%d agents, each node", agents), Y: "cores", Lines: heard[:]},
		"nodes-packets.svg": {Title: "Packets per agent, both ways", Y: "a second", Lines: packets[:]},
	} {
		c.X = "nodes"
		charts[file] = c
	}
}
