package soak_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/network"
	"gslb.internal/integration/harness/testbed"
)

// Random faults by a seed affect two nodes and four backends on separate networks, and the links between them. Sites
// are disconnected, gossip packets are lost, the delay of a link increases, and agents behind a NAT that loses its
// state change their uplink. The invariants are those of TestSoak_InvariantsHoldUnderRandomFaults. The flag -soak sets
// the duration.
//
// Fault 38: Random faults, repeatable by a seed. The invariants hold.
func TestSoak_InvariantsHoldBetweenSites(t *testing.T) {
	if *soakLength == 0 {
		t.Skip("-soak=2m runs this test, as make test-long does: it takes minutes")
	}
	testbed.OnNetwork(t, func(t *testing.T, n *network.Network) {
		length, random := soakOf(t, 0)
		k := &soak{Site: testbed.NewNetworkSite(t, []string{"eu", "us", "ap", "sa"}), random: random}
		k.startBetweenSites(t, n)
		k.run(t, length)
	})
}

// soakWays contains the links between the sites of a soak test.
type soakWays struct {
	network *network.Network
	// the sites that may be cut off, each with the backend of the same index; the first sites also have the node of
	// the same index
	sites   []*network.Site
	branch  *network.Site // the site of most agents
	far     *network.Site
	clients map[*harness.Node]*harness.Watch // each on the node's machine, so that it can query the node during a cut

	cut     int // the site that is cut off, or was last
	isCut   bool
	changed time.Time // when the site was cut off or reconnected
	lost    int       // lost gossip packets, in percent
	second  bool      // the branch uses only its second uplink
}

// startBetweenSites starts sites for eu, us and ap, each with a backend. The sites eu and us have a node, and ap has a
// high delay. Another site has one more backend. A branch behind a NAT with two uplinks has all agents except the agent
// of ap.
func (k *soak) startBetweenSites(t *testing.T, n *network.Network) {
	t.Helper()
	regions := []string{"eu", "us", "ap", "sa"}
	w := &soakWays{network: n, clients: map[*harness.Node]*harness.Watch{}}
	var all []*network.Site
	for _, region := range regions {
		delay := map[string]time.Duration{"ap": 10 * time.Millisecond}[region]
		all = append(all, testbed.AddSite(t, n, region, delay))
	}
	w.sites, w.far, w.branch = all[:3], all[2], testbed.AddSite(t, n, "branch", 0)
	testbed.AddHost(t, w.branch)
	if _, err := w.branch.AddUplink("branch2"); err != nil {
		t.Fatal(err)
	}
	if err := n.Masquerade(w.branch); err != nil {
		t.Fatal(err)
	}
	for i, at := range all[:2] {
		k.NodeAt(t, at, testbed.AddHost(t, at), "ow-"+regions[i], regions...)
	}
	for i, at := range all {
		k.BackendAt(t, at, testbed.AddHost(t, at), "b-"+regions[i], regions[i])
		if at != w.far {
			k.Agents[i].Inside = w.branch.Inside
		}
	}
	k.StartPrograms(t)
	for i, node := range k.Nodes {
		w.clients[node] = k.WatchFrom(t, all[i], node)
	}
	k.ways = w
}

// waySettled is the time after which a returned backend or a repaired link has no effect of its fault any more.
const waySettled = 10 * time.Second

// reaches reports whether a node has reached a backend for some time, if a site is or recently was disconnected.
func (w *soakWays) reaches(node, backend, cut int, isCut bool) bool {
	if !isCut && time.Since(w.changed) > waySettled {
		return true
	}
	return (node == cut) == (backend == cut)
}

// suffices reports whether each node has a healthy backend other than the given one.
func (w *soakWays) suffices(k *soak, beside, cut int, isCut bool) bool {
	for node := range k.Nodes {
		if !slices.ContainsFunc([]int{0, 1, 2, 3}, func(i int) bool {
			l := k.lives[i]
			return i != beside && !l.dead && !l.ordered && time.Since(l.since) > waySettled && w.reaches(node, i, cut, isCut)
		}) {
			return false
		}
	}
	return true
}

// spared reports whether each node has another healthy backend.
func (w *soakWays) spared(k *soak, backend int) bool {
	return w.suffices(k, backend, w.cut, w.isCut)
}

// fault begins or ends a random fault between sites.
func (w *soakWays) fault(t *testing.T, k *soak) string {
	site, percent, delay := k.random.IntN(len(w.sites)), 20*k.random.IntN(4),
		time.Duration(5+k.random.IntN(20))*time.Millisecond
	switch k.random.IntN(4) {
	case 0:
		switch {
		case w.isCut:
			w.isCut = false
		case time.Since(w.changed) > waySettled && w.suffices(k, -1, site, true):
			w.cut, w.isCut = site, true
		default:
			return ""
		}
		w.rules(t)
		w.changed = time.Now()
		return fmt.Sprintf("the site %s is cut off: %t", w.sites[w.cut].Name, w.isCut)
	case 1:
		w.lost = percent
		w.rules(t)
		return fmt.Sprintf("%d %% of the packets of gossip are lost", percent)
	case 2:
		w.far.Delay(delay)
		return fmt.Sprintf("each way to %s takes %s", w.far.Name, delay)
	default:
		w.uplink(t, w.second)
		return fmt.Sprintf("the first uplink of the agents is up: %t", !w.second)
	}
}

func (w *soakWays) rules(t *testing.T) {
	t.Helper()
	rules := testbed.LostGossip(w.lost, nil, nil, "udp")
	if w.isCut {
		rules = append(rules, network.Cut(w.sites[w.cut])...)
	}
	if err := w.network.Rules(rules...); err != nil {
		t.Fatal(err)
	}
}

// uplink connects or disconnects the first uplink of the branch.
func (w *soakWays) uplink(t *testing.T, up bool) {
	t.Helper()
	if err := w.branch.Uplink(up); err != nil {
		t.Fatal(err)
	}
	w.second = !up
}

// heal repairs all links.
func (w *soakWays) heal(t *testing.T) {
	t.Helper()
	if w.isCut {
		w.isCut, w.changed = false, time.Now()
	}
	w.lost = 0
	w.rules(t)
	if w.second {
		w.uplink(t, true)
	}
}
