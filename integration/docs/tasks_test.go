package docs_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/miekg/dns"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

const tasksPath = "../../overwatch/docs/tasks.md"

// nameServers is the zone of two nodes, as `gslbctl init` writes it.
const nameServers = `dns: {zones: [{name: ZONE, nameservers: [ns1.ZONE, ns2.ZONE],
  records: ["ns1.ZONE. 3600 IN A 127.0.0.1", "ns2.ZONE. 3600 IN A 127.0.0.1"]}]}`

// startTask starts a site for a section of the page of tasks. Its nodes exchange keys and operator state.
func startTask(t *testing.T, ran *int, nodes, backends int) *runbook {
	t.Helper()
	testbed.Judge(t, "curl")
	r := &runbook{Site: testbed.NewSite(t, nodes, backends), path: tasksPath, ran: ran, away: map[*harness.Node][]span{}}
	r.words = map[string]string{"SERVICE": testbed.AppName, "ZONE": testbed.ZoneName, "PATH": testbed.ProgramsTogether(t)}
	secret := harness.NewToken()
	for _, n := range r.Nodes {
		n.File.Overwatch.DNSSEC.KeySync = r.exchange(secret)
	}
	return r
}

// exchange returns the settings of the exchange between the nodes of the site.
func (r *runbook) exchange(secret string) *harness.KeySync {
	sync := &harness.KeySync{PollInterval: testbed.SyncPoll, Timeout: testbed.Patience, Secret: secret}
	for _, n := range r.Nodes {
		sync.Peers = append(sync.Peers, "http://"+n.API.String())
	}
	return sync
}

// begin starts the site and adds name servers to its zone.
func (r *runbook) begin(t *testing.T) {
	t.Helper()
	r.StartAll(t)
	for _, n := range r.Nodes {
		r.lay(t, n.Path, nameServers)
		r.systemctl(t, "reload", n.Unit, n)
	}
}

// A node joins a cluster and leaves it, and no lookup fails.
func TestRunbook_TasksOfNodes(t *testing.T) {
	t.Parallel()
	r := startTask(t, new(int), 2, 2)
	joining := testbed.AddNode(t, r.Cluster, "ow-3", "eu", map[string][]harness.Server{"eu": nil})
	joining.File.DNS.Zones = []string{testbed.ZoneName}
	joining.File.Overwatch.DNSSEC.KeySync = r.exchange(r.Nodes[0].File.Overwatch.DNSSEC.KeySync.Secret)
	if err := joining.WriteFile(); err != nil {
		t.Fatal(err)
	}
	r.lay(t, joining.Path, nameServers)
	r.begin(t)
	for word, n := range map[string]*harness.Node{"NS1": r.Nodes[0], "NS2": r.Nodes[1], "NEW": joining} {
		r.words[word+":8080"], r.words[word+":7946"] = n.API.String(), n.Gossip.String()
		r.words[word+"/32"], r.words[word+"_ADDRESS"] = "127.0.0.1/32", n.DNS.Addr().String()
	}
	r.words["NEW_ID"] = joining.Name

	r.joining = joining
	r.section(t, "Add a node")
	for _, b := range r.Backends {
		r.Status(t, joining, b, testbed.StartBound, testbed.WantSound)
	}
	signedAlike(t, append(slices.Clone(r.Nodes), joining)...)
	for _, n := range append(slices.Clone(r.Nodes), joining) {
		wantNameServers(t, n, 3)
	}

	r.joining, r.leaving = nil, joining
	r.section(t, "Remove a node")
	for _, n := range r.Nodes {
		wantNameServers(t, n, 2)
		condition(t, n, api.NodeUnheard, false)
	}
	if joining.Running() {
		t.Error("the removed node still runs")
	}
	r.servedThroughout(t)
}

// An agent and its application move to another machine, and no lookup fails.
func TestRunbook_TaskReplaceAnAgent(t *testing.T) {
	t.Parallel()
	r := startTask(t, new(int), 2, 3)
	r.prepareMove(t, "eu")
	r.section(t, "Replace an agent")
	r.wantMoved(t)
	r.servedThroughout(t)
}

// A service moves to another region, and no lookup fails.
func TestRunbook_TaskMoveAService(t *testing.T) {
	t.Parallel()
	r := startTask(t, new(int), 2, 2)
	r.prepareMove(t, "us")
	r.words["OLD_REGION"], r.words["NEW_REGION"] = "eu", "us"
	r.section(t, "Move a service to another site")
	r.wantMoved(t)
	r.servedThroughout(t)
}

// A token of the API is replaced.
func TestRunbook_TaskAPIToken(t *testing.T) {
	t.Parallel()
	r := startRunbook(t, tasksPath, new(int), 1, 1)
	r.words["OLD_TOKEN"] = harness.NewToken()
	r.section(t, "API token")
	for token, want := range map[string]bool{r.words["OLD_TOKEN"]: false, r.words["NEW_TOKEN"]: true} {
		client, err := api.NewClient(api.ClientOptions{Node: r.Nodes[0].Client.Node(), Token: token})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.Backends(t.Context(), api.BackendFilter{}); (err == nil) != want {
			t.Errorf("a request with a token that is accepted: %t: %v", want, err)
		}
	}
}

// Each block of the page belongs to a section that a test executes.
func TestRunbook_TasksAreExecuted(t *testing.T) {
	t.Parallel()
	executed := 0
	for _, section := range []string{"Add a node", "Remove a node", "Replace an agent", "Move a service to another site",
		"API token"} {
		executed += len(steps(t, tasksPath, section))
	}
	if all := len(steps(t, tasksPath, "")); executed != all {
		t.Errorf("%d of %d blocks are in sections that a test executes", executed, all)
	}
}

// prepareMove starts the site without the last backend, to which the first one moves, in a region.
func (r *runbook) prepareMove(t *testing.T, region string) {
	t.Helper()
	last := len(r.Backends) - 1
	before, after := r.Agents[0], r.Agents[last]
	target := r.Backends[last]
	r.Agents = r.Agents[:last]
	r.begin(t)
	after.File.Agent.Identity.Region = region
	if err := after.WriteFile(); err != nil {
		t.Fatal(err)
	}
	r.leavingAgent, r.joiningAgent = before, after
	r.Backends = r.Backends[:last]
	for word, is := range map[string]string{"NEW_AGENT": after.Name, "OLD_AGENT": before.Name,
		"OLD_ADDRESS": r.Backends[0].At.Addr().String(), "NEW_ADDRESS": target.At.Addr().String(),
		"PORT": fmt.Sprint(target.At.Port())} {
		r.words[word] = is
	}
}

// wantMoved checks that each node answers with the new address, without the old address, and has no old agent.
func (r *runbook) wantMoved(t *testing.T) {
	t.Helper()
	from, to := netip.MustParseAddr(r.words["OLD_ADDRESS"]), netip.MustParseAddr(r.words["NEW_ADDRESS"])
	for _, n := range r.Nodes {
		if r.Watch.FirstWith(n, testbed.AppName, to, r.Began).IsZero() {
			t.Errorf("%s never answered with %s", n.Name, to)
		}
		for range 8 {
			for _, rr := range testbed.Exchange(t, "udp", n, testbed.AppName, dns.TypeA).Answer {
				if a, is := rr.(*dns.A); is && a.A.String() == from.String() {
					t.Errorf("%s answers with the old address", n.Name)
				}
			}
		}
		if _, err := n.Client.Agent(t.Context(), r.words["OLD_AGENT"]); err == nil {
			t.Errorf("%s still has the old agent", n.Name)
		}
	}
}

// signedAlike waits until nodes publish the same keys.
func signedAlike(t *testing.T, nodes ...*harness.Node) {
	t.Helper()
	testbed.Until(t, testbed.KeyBound, "the same keys on all nodes", func(ctx context.Context) error {
		want, err := testbed.KeyTags(ctx, nodes[0])
		for _, n := range nodes[1:] {
			have, failed := testbed.KeyTags(ctx, n)
			if err = errors.Join(err, failed); !slices.Equal(want, have) {
				err = errors.Join(err, fmt.Errorf("%v and %v", want, have))
			}
		}
		return err
	})
}

// wantNameServers checks the number of name servers of the zone.
func wantNameServers(t *testing.T, n *harness.Node, want int) {
	t.Helper()
	reply := testbed.Exchange(t, "udp", n, testbed.ZoneName, dns.TypeNS)
	if len(reply.Answer) != want || !strings.HasPrefix(reply.Answer[0].String(), testbed.ZoneName) {
		t.Errorf("%s has the name servers %v, want %d", n.Name, reply.Answer, want)
	}
}
