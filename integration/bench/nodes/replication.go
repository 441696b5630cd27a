package main

import (
	"container/heap"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// Measured CPU time of a node (make bench-replication).
const (
	// partCost is the cost of an exchange for each of its two nodes: two requests with their proofs.
	partCost = time.Millisecond
	// takeCost is the cost of storing received objects and of using them in answers.
	takeCost = 3 * time.Millisecond
)

// Times of package replication: the minimum time between two answers to a node, and the maximum delay of an answer.
const (
	spacing  = 50 * time.Millisecond
	holdTime = 20 * time.Second
)

// event is a function that is called at a virtual time.
type event struct {
	at time.Duration
	do func()
}

type events []event

func (e events) Len() int           { return len(e) }
func (e events) Less(i, k int) bool { return e[i].at < e[k].at }
func (e events) Swap(i, k int)      { e[i], e[k] = e[k], e[i] }
func (e *events) Push(x any)        { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}

// cluster is a set of replicating nodes in virtual time. Each node has one core and works sequentially.
type cluster struct {
	now       time.Duration
	queue     events
	nodes     []*node
	delay     [][]time.Duration // one way
	exchanges int
	held      map[int]int           // number of nodes with a change, by change
	made      map[int]time.Duration // creation time, by change
	took      []time.Duration       // times from a change to the last receiving node
}

type node struct {
	id    int
	busy  time.Duration // end of the current work
	used  time.Duration
	log   []int        // numbers of changes, in the order of arrival
	has   map[int]bool // received changes
	peers []int        // destinations of its requests
	asker []*visit     // requests of its peers
}

// visit is the pending request of a node to another node, which answers when it has changes (long polling).
type visit struct {
	asker, asked int
	since        int // length of the log at the requesting node
	waiting      bool
	answered     time.Duration
}

func (c *cluster) after(while time.Duration, do func()) {
	heap.Push(&c.queue, event{c.now + while, do})
}

// work makes a node work for cost as soon as it is free, and then calls then.
func (c *cluster) work(n *node, cost time.Duration, then func()) {
	n.busy = max(n.busy, c.now) + cost
	n.used += cost
	c.after(n.busy-c.now, then)
}

// newCluster creates nodes at random places of the earth. Each node polls all others. If few is above zero, each node
// polls few others: the next node and random nodes.
func newCluster(size, few int, r *rand.Rand) *cluster {
	c := &cluster{held: make(map[int]int), made: make(map[int]time.Duration)}
	places := make([][3]float64, size)
	for i := range places {
		z, turn := 2*r.Float64()-1, 2*math.Pi*r.Float64()
		places[i] = [3]float64{math.Sqrt(1-z*z) * math.Cos(turn), math.Sqrt(1-z*z) * math.Sin(turn), z}
		c.nodes = append(c.nodes, &node{id: i, has: make(map[int]bool)})
	}
	for i, a := range places {
		c.delay = append(c.delay, make([]time.Duration, size))
		for k, b := range places {
			angle := math.Acos(max(-1, min(1, a[0]*b[0]+a[1]*b[1]+a[2]*b[2])))
			// The speed of light in glass, on cables of 1.5 times the distance.
			c.delay[i][k] = time.Millisecond + time.Duration(angle*6371/200000*1.5*float64(time.Second))
		}
	}
	for i, n := range c.nodes {
		for k := range size {
			if few == 0 && k != i {
				n.peers = append(n.peers, k)
			}
		}
		if few > 0 {
			n.peers = []int{(i + 1) % size}
			for _, k := range r.Perm(size) {
				if k != i && !slices.Contains(n.peers, k) && len(n.peers) < min(few, size-1) {
					n.peers = append(n.peers, k)
				}
			}
		}
		for _, k := range n.peers {
			v := &visit{asker: i, asked: k, answered: -spacing}
			c.nodes[k].asker = append(c.nodes[k].asker, v)
			c.after(time.Duration(r.Int64N(int64(holdTime))), func() { c.ask(v) })
		}
	}
	return c
}

// ask sends a request. It arrives after three one-way delays: two for the challenge, and one with the proof.
func (c *cluster) ask(v *visit) {
	c.exchanges++
	c.after(3*c.delay[v.asker][v.asked], func() {
		v.waiting = true
		c.serve(v)
		c.after(holdTime, func() {
			if v.waiting && c.now-v.answered >= holdTime {
				c.answer(v)
			}
		})
	})
}

// serve answers a pending request if there are changes for its node, at the earliest spacing after the last answer.
func (c *cluster) serve(v *visit) {
	if n := c.nodes[v.asked]; !v.waiting || v.since == len(n.log) {
		return
	}
	if early := v.answered + spacing - c.now; early > 0 {
		c.after(early, func() { c.serve(v) })
		return
	}
	c.answer(v)
}

func (c *cluster) answer(v *visit) {
	v.waiting, v.answered = false, c.now
	asked, asker := c.nodes[v.asked], c.nodes[v.asker]
	c.work(asked, partCost, func() {
		news := asked.log[v.since:]
		v.since = len(asked.log)
		c.after(c.delay[v.asker][v.asked], func() {
			cost := partCost
			if slices.ContainsFunc(news, func(change int) bool { return !asker.has[change] }) {
				cost += takeCost
			}
			c.work(asker, cost, func() {
				c.take(asker, news)
				c.ask(v)
			})
		})
	})
}

// take adds changes to a node's log, and answers the pending requests.
func (c *cluster) take(n *node, changes []int) {
	before := len(n.log)
	for _, change := range changes {
		if n.has[change] {
			continue
		}
		n.has[change] = true
		n.log = append(n.log, change)
		if c.held[change]++; c.held[change] == len(c.nodes) {
			c.took = append(c.took, c.now-c.made[change])
		}
	}
	if len(n.log) > before {
		for _, v := range n.asker {
			c.serve(v)
		}
	}
}

// run lets the cluster rest for a while, and then makes count changes at random nodes, on average rate per second. It
// returns the fraction of a core that a node needs at rest, the additional cost of a change for each node, and the
// number of exchanges per change.
func (c *cluster) run(count int, rate float64, r *rand.Rand) (rest float64, each time.Duration, exchanges float64) {
	const began = 5 * holdTime
	at := began
	for change := range count {
		at += time.Duration(r.ExpFloat64() / rate * float64(time.Second))
		heap.Push(&c.queue, event{at, func() {
			n := c.nodes[r.IntN(len(c.nodes))]
			c.made[change] = c.now
			c.work(n, takeCost, func() { c.take(n, []int{change}) })
		}})
	}
	c.until(holdTime)
	before, asked := c.used(), c.exchanges
	c.until(began)
	idle, quiet := c.used()-before, c.exchanges-asked
	before, asked = c.used(), c.exchanges
	c.until(at + holdTime)
	for len(c.took) < count {
		c.step()
	}
	slices.Sort(c.took)
	times := float64(c.now-began) / float64(began-holdTime) // the included time at rest
	per := float64(c.used()-before) - times*float64(idle)
	return float64(idle) / float64(began-holdTime) / float64(len(c.nodes)),
		time.Duration(per / float64(count*len(c.nodes))), (float64(c.exchanges-asked) - times*float64(quiet)) / float64(count)
}

func (c *cluster) step() {
	e := heap.Pop(&c.queue).(event)
	c.now = e.at
	e.do()
}

func (c *cluster) until(at time.Duration) {
	for len(c.queue) > 0 && c.queue[0].at <= at {
		c.step()
	}
	c.now = at
}

func (c *cluster) used() (sum time.Duration) {
	for _, n := range c.nodes {
		sum += n.used
	}
	return sum
}
