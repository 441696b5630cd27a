package scale_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/fleet"
	"gslb.internal/integration/harness/plot"
	"gslb.internal/integration/harness/testbed"
)

// scaleSize contains the numbers of names, agents and failures in a run.
type scaleSize struct {
	names  []int // measured with one node each, sequentially; the cluster has the last number
	agents int
	flips  int
}

const (
	scaleNodes    = 3
	scaleBackends = 4 // backends per name
	scaleName     = "n%06d.test.gslb.test"
	askFor        = 2 * time.Second // duration of the measurement of CPU time per query
)

var plots = flag.String("plots", "", "measure at full size, and write plots to this directory")

// One machine has three nodes, many names and many agents. The test measures the duration of a start, the cost of a
// query, the registration of agents, the memory, and the time until the answers of all nodes exclude a failed backend.
// The flag -plots=directory sets the numbers to 100 000 names and 10 000 agents, and writes the plots of README.md to
// the directory. Otherwise the numbers are small, and the test shows that the measurements work.
func TestScale_NamesAgentsAndNodesOnOneMachine(t *testing.T) {
	dir, size := *plots, scaleSize{names: []int{1_000, 10_000, 30_000, 100_000}, agents: 10_000,
		flips: 60}
	if dir == "" {
		dir, size = t.TempDir(), scaleSize{names: []int{10, 100}, agents: 20, flips: 2}
	}
	s := &scaleRun{dir: dir}
	for _, names := range size.names {
		s.oneNode(t, names)
	}
	s.cluster(t, size)
	s.draw(t)
}

// scaleRun holds the measurements of a run.
type scaleRun struct {
	dir string

	started, peak, resting, perQuery []plot.Point   // over names: seconds, MiB, MiB, microseconds
	registered                       [][]plot.Point // by node, over seconds
	memory                           []plot.Point   // of the first node, over agents
	flips                            [][]float64
}

// scaleCluster prepares nodes with unsigned names that have static backends without health checks.
func scaleCluster(t *testing.T, nodes, names int, domains []harness.Domain) (*harness.Cluster, []*harness.Node) {
	t.Helper()
	timing := harness.Fast()
	timing.CheckInterval, timing.CheckTimeout, timing.FailureThreshold, timing.SuccessThreshold = benchCheck, benchCheck,
		1, 1
	c := testbed.NewCluster(t, timing, domains...)
	path := filepath.Join(c.Dir, "names.yaml")
	testbed.Write(t, path, 0o600, manyNames(names))
	var all []*harness.Node
	for i := range nodes {
		n := testbed.AddNode(t, c, fmt.Sprint("ow-", i+1), "eu", map[string][]harness.Server{"eu": nil})
		n.File.Includes, n.File.DNS.Zones = []string{path}, []string{"test.gslb.test"}
		n.File.Overwatch.Validation.Enabled = false
		n.File.Overwatch.Stale.Threshold, n.File.Overwatch.Stale.RemoveAfter = 3*fleet.Interval, 5*time.Minute
		all = append(all, n)
	}
	return c, all
}

// manyNames returns the content of a file that a node's configuration includes.
func manyNames(names int) string {
	var b strings.Builder
	b.WriteString(
		"overwatch:\n  dnssec: {enabled: false, security_acknowledgment: \"unsigned answers are measured\"}\nregions:\n  " +
			"- name: many\n    servers:\n")
	for i := range names {
		for k := range scaleBackends {
			fmt.Fprintf(&b, "      - {address: %s, port: 80, weight: %d, service: "+scaleName+"}\n",
				netip.AddrFrom4([4]byte{10, byte(i >> 14), byte(i >> 6), byte(i<<2 | k)}), 10*(k+1), i)
		}
	}
	b.WriteString("domains:\n")
	for i := range names {
		fmt.Fprintf(&b, "  - {name: "+scaleName+", routing_algorithm: weighted, regions: [many], ttl: 60}\n", i)
	}
	return b.String()
}

// oneNode measures a node with only names.
func (s *scaleRun) oneNode(t *testing.T, names int) {
	t.Helper()
	c, nodes := scaleCluster(t, 1, names, nil)
	n, began := nodes[0], time.Now()
	testbed.Start(t, n)
	firstAnswer(t, n, names-1)
	took := time.Since(began)
	s.started = append(s.started, plot.Point{float64(names), took.Seconds()})
	cost, asked := costPerQuery(t, n, names)
	s.perQuery = append(s.perQuery, plot.Point{float64(names), float64(cost.Nanoseconds()) / 1000})
	s.peak = append(s.peak, plot.Point{float64(names), float64(peakMemory(t, n.PID()) >> 20)})
	s.resting = append(s.resting, plot.Point{float64(names), float64(testbed.ResidentMiB(t, n.PID()))})
	t.Logf("%d names with %d backends each: answers %s after the start, %v MiB at most, %v MiB then, %s of processor "+
		"time per query over %d queries",
		names, scaleBackends, took.Round(time.Millisecond), s.peak[len(s.peak)-1][1], s.resting[len(s.resting)-1][1], cost,
		asked)
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// firstAnswer waits until a node answers for a name.
func firstAnswer(t *testing.T, n *harness.Node, name int) {
	t.Helper()
	client, query := &dns.Client{Timeout: 100 * time.Millisecond},
		new(dns.Msg).SetQuestion(fmt.Sprintf(scaleName+".", name), dns.TypeA)
	testbed.Until(t, 5*time.Minute, n.Name+" to answer", func(context.Context) error {
		r, _, err := client.Exchange(query, n.DNS.String())
		if err == nil && len(r.Answer) == 0 {
			err = fmt.Errorf("the answer is %v", r)
		}
		return err
	})
}

// costPerQuery sends queries for random names and returns the node's CPU time per answer.
func costPerQuery(t *testing.T, n *harness.Node, names int) (cost time.Duration, answered int64) {
	t.Helper()
	var count atomic.Int64
	ask := func(over time.Duration) {
		var group sync.WaitGroup
		for k := range 4 {
			group.Go(func() { count.Add(askAround(t, n.DNS, names, uint64(k), time.Now().Add(over))) })
		}
		group.Wait()
	}
	ask(askFor / 4) // completes the work that the first answers cause
	count.Store(0)
	before := testbed.Cpu(t, n.PID())
	ask(askFor)
	used := testbed.Cpu(t, n.PID()) - before
	if answered = count.Load(); answered == 0 {
		t.Fatal("no query was answered")
	}
	return used / time.Duration(answered), answered
}

// askAround sends queries over a socket, 32 at a time, until end.
func askAround(t *testing.T, at netip.AddrPort, names int, seed uint64, end time.Time) (answered int64) {
	conn, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(at))
	if err != nil {
		t.Error(err)
		return 0
	}
	defer conn.Close()
	random, in := rand.New(rand.NewPCG(seed, 5)), make([]byte, 4096)
	for time.Now().Before(end) {
		for range 32 {
			packed, err := new(dns.Msg).SetQuestion(fmt.Sprintf(scaleName+".", random.IntN(names)), dns.TypeA).Pack()
			if err != nil {
				t.Error(err)
				return answered
			}
			_, _ = conn.Write(packed) // a lost query is not counted
		}
		for range 32 {
			_ = conn.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
			size, err := conn.Read(in)
			if err != nil {
				break
			}
			if size > 8 && in[3]&0xf == dns.RcodeSuccess && in[7] == 1 { // one record
				answered++
			}
		}
	}
	return answered
}

// cluster measures three nodes with all names during the registration of all agents, and then the failure of a backend.
func (s *scaleRun) cluster(t *testing.T, size scaleSize) {
	t.Helper()
	domains := []harness.Domain{{Name: testbed.AppName, RoutingAlgorithm: "round-robin", Regions: []string{"eu"}, TTL: 5}}
	for i := range fleetServices {
		domains = append(domains, harness.Domain{Name: fmt.Sprintf("s%d.test.gslb.test", i), RoutingAlgorithm: "weighted",
			Regions: []string{"eu"}, TTL: 30})
	}
	names := size.names[len(size.names)-1]
	c, nodes := scaleCluster(t, scaleNodes, names, domains)
	for _, n := range nodes {
		testbed.Start(t, n)
	}
	for _, n := range nodes {
		firstAnswer(t, n, names-1)
	}
	s.comeToAll(t, c, nodes, size.agents)
	for _, n := range nodes {
		t.Logf("%s: %d MiB with %d names and %d agents", n.Name, testbed.ResidentMiB(t, n.PID()), names, size.agents)
	}
	s.die(t, c, nodes, size.flips)
}

// comeToAll registers the same agents at every node concurrently. They stay until the end of the test.
func (s *scaleRun) comeToAll(t *testing.T, c *harness.Cluster, nodes []*harness.Node, count int) {
	t.Helper()
	dir, fleets := t.TempDir(), make([]*distantFleet, len(nodes))
	for k, n := range nodes {
		fleets[k] = newDistantFleet(t, &fleetOrder{Dir: dir, Key: c.GossipKey, Node: n.Gossip, Tokens: c.Tokens,
			Count: count})
	}
	s.registered = make([][]plot.Point, len(nodes))
	s.memory = []plot.Point{{0, float64(testbed.ResidentMiB(t, nodes[0].PID()))}}
	began := time.Now()
	for _, f := range fleets {
		f.begin(t)
	}
	testbed.Until(t, 10*time.Minute, "all agents to be registered", func(context.Context) (err error) {
		for k, f := range fleets {
			got, curve := float64(f.registered.Load()), s.registered[k]
			if len(curve) == 0 || got >= curve[len(curve)-1][1]+float64(count)/200 ||
				got == float64(count) && got > curve[len(curve)-1][1] {
				s.registered[k] = append(curve, plot.Point{time.Since(began).Seconds(), got})
			}
			if got < float64(count) {
				err = fmt.Errorf("%v are at %s", got, nodes[k].Name)
			}
		}
		if got := s.registered[0][len(s.registered[0])-1][1]; got > s.memory[len(s.memory)-1][0]+float64(count)/100 ||
			err == nil {
			s.memory = append(s.memory, plot.Point{got, float64(testbed.ResidentMiB(t, nodes[0].PID()))})
		}
		return err
	})
	t.Logf("%d agents were registered at each of %d nodes after %s", count, len(nodes),
		time.Since(began).Round(100*time.Millisecond))
}

// die repeatedly makes the checks of a backend fail, and measures the time until the answers of each node exclude the
// backend.
func (s *scaleRun) die(t *testing.T, c *harness.Cluster, nodes []*harness.Node, flips int) {
	t.Helper()
	backend := newSwitched()
	server := httptest.NewServer(backend)
	defer server.Close()
	at := server.Listener.Addr().(*net.TCPAddr).AddrPort()
	a, err := c.AddAgent("agent-1", "eu", nodes, []harness.AgentBackend{{
		Service: testbed.AppName, Address: at.Addr(), Port: at.Port(), Weight: 100, HealthCheck: c.Timing.Check(),
	}})
	if err != nil {
		t.Fatal(err)
	}
	testbed.Start(t, a)
	s.flips = make([][]float64, len(nodes))
	for range flips {
		backend.set(true)
		for _, n := range nodes {
			testbed.Until(t, testbed.StartBound, n.Name+" to answer with the backend", func(context.Context) error {
				if !answersWell(n) {
					return fmt.Errorf("it does not")
				}
				return nil
			})
		}
		failed := backend.set(false)
		begin := <-failed
		var group sync.WaitGroup
		for k, n := range nodes {
			group.Go(func() {
				for range testbed.Every(t.Context(), time.Millisecond) {
					if !answersWell(n) || time.Since(begin) > 10*time.Second {
						break
					}
				}
				s.flips[k] = append(s.flips[k], float64(time.Since(begin).Microseconds())/1000)
			})
		}
		group.Wait()
	}
	for k, n := range nodes {
		slices.Sort(s.flips[k])
		took := s.flips[k]
		t.Logf("%s: from a failing check to the answer: median %.1f ms, slowest %.1f ms", n.Name, took[len(took)/2],
			took[len(took)-1])
		if took[len(took)-1] >= 10_000 {
			t.Errorf("%s went on answering a dead backend for 10 s", n.Name)
		}
	}
}

func answersWell(n *harness.Node) bool {
	r, err := dns.Exchange(new(dns.Msg).SetQuestion(testbed.AppName+".", dns.TypeA), n.DNS.String())
	return err == nil && len(r.Answer) == 1
}

// draw writes the plots.
func (s *scaleRun) draw(t *testing.T) {
	t.Helper()
	var registered, answered []plot.Line
	for k := range s.registered {
		name := fmt.Sprint("ow-", k+1)
		registered = append(registered, plot.Line{Name: name, Points: s.registered[k]})
		var shares []plot.Point
		for i, ms := range s.flips[k] {
			shares = append(shares, plot.Point{ms, 100 * float64(i+1) / float64(len(s.flips[k]))})
		}
		answered = append(answered, plot.Line{Name: name, Points: shares})
	}
	for file, c := range map[string]plot.Chart{
		"start.svg": {Title: "From the start of a node to its first answer", X: "names, with four backends each", Y: "s",
			LogX: true, Lines: []plot.Line{{Name: "one node", Points: s.started}}},
		"memory.svg": {Title: "Memory of a node over names", X: "names, with four backends each", Y: "MiB", LogX: true,
			Lines: []plot.Line{{Name: "most", Points: s.peak}, {Name: "after the queries", Points: s.resting}}},
		"query.svg": {Title: "Processor time for a query", X: "names, asked for at random", Y: "µs", LogX: true,
			Lines: []plot.Line{{Name: "one node", Points: s.perQuery}}},
		"agents.svg": {Title: "Agents come to three nodes at once", X: "s", Y: "agents registered", Lines: registered},
		"fleet.svg": {Title: "Memory of a node over agents", X: "agents registered, with three backends each", Y: "MiB",
			Lines: []plot.Line{{Name: "ow-1", Points: s.memory}}},
		"failover.svg": {Title: "From a failing check to the answers of three nodes", X: "ms", Y: "% of failures",
			Lines: answered},
	} {
		testbed.Write(t, filepath.Join(s.dir, file), 0o644, c.SVG())
	}
}

// peakMemory returns the maximum resident memory of a process, in bytes.
func peakMemory(t *testing.T, pid int) int64 {
	t.Helper()
	return testbed.StatusBytes(t, pid, "VmHWM:")
}
