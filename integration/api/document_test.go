package api_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/miekg/dns"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

const documentName = "shop.test.gslb.test"

// documentNode starts a node with the regions eu and us that checks nothing itself, so that a server serves at once.
func documentNode(t *testing.T) *harness.Node {
	t.Helper()
	c := testbed.NewCluster(t, harness.Fast())
	n, err := c.AddNode("ow-1", "eu", map[string][]harness.Server{"eu": nil, "us": nil})
	if err != nil {
		t.Fatal(err)
	}
	n.File.DNS.Zones = []string{"test.gslb.test"}
	n.File.Overwatch.Validation.Enabled = false
	testbed.Start(t, n)
	ready(t, n)
	return n
}

func ready(t *testing.T, n *harness.Node) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testbed.StartBound)
	defer cancel()
	if err := n.Ready(ctx); err != nil {
		t.Fatal(err)
	}
}

// document has one name with servers in both regions, by the last octet of their addresses.
func document(algorithm string, weights map[byte]int, ttl int) api.Document {
	regions := []string{"eu", "us"}
	doc := api.Document{Domains: []api.DocumentDomain{{DomainChange: api.DomainChange{Name: documentName,
		RoutingPolicy: &algorithm, Regions: &regions, TTL: &ttl}}}}
	for _, octet := range slices.Sorted(maps.Keys(weights)) {
		weight := weights[octet]
		doc.Servers = append(doc.Servers, api.DocumentServer{ServerCreate: api.ServerCreate{Service: documentName,
			Address: fmt.Sprintf("192.0.2.%d", octet), Port: 80, Weight: &weight, Region: regions[octet%2]}})
	}
	return doc
}

// What a plan says of the answers is what they are after its apply, for changes at random.
func TestDocument_APlanSaysWhatAnswersBecome(t *testing.T) {
	t.Parallel()
	n := documentNode(t)
	random := rand.New(rand.NewPCG(7, 7))
	algorithms := []string{"weighted", "round-robin", "failover", "client-hash"}
	for round := range 60 {
		weights := map[byte]int{}
		for octet := byte(1); octet < 9; octet++ {
			if random.IntN(3) > 0 {
				weights[octet] = 1 + random.IntN(100)
			}
		}
		request := api.ApplyRequest{Owner: "shop", Prune: true, Force: true,
			Document: document(algorithms[random.IntN(len(algorithms))], weights, 1+random.IntN(60))}
		plan, err := n.Client.Plan(t.Context(), request)
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		before := sharesNow(t, n)
		done, err := n.Client.Apply(t.Context(), request)
		if err != nil || !done.Applied || len(done.Changes) != len(plan.Changes) {
			t.Fatalf("round %d: %+v, %v", round, done, err)
		}
		after := sharesNow(t, n)
		said := slices.IndexFunc(plan.Answers.Names, func(name api.PlanName) bool { return name.ClientRegion == "" })
		switch {
		case said < 0 && !maps.EqualFunc(before, after, near):
			t.Fatalf("round %d: the plan names no change, and %v became %v", round, before, after)
		case said >= 0:
			name := plan.Answers.Names[said]
			if was, is := sharesOf(name.Before), sharesOf(name.After); !maps.EqualFunc(was, before, near) ||
				!maps.EqualFunc(is, after, near) {
				t.Fatalf("round %d: the plan says %v -> %v, it was %v -> %v", round, was, is, before, after)
			}
		}
		if again, err := n.Client.Plan(t.Context(), request); err != nil || len(again.Changes) > 0 {
			t.Fatalf("round %d: applied, and to do: %+v, %v", round, again.Changes, err)
		}
	}
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-4 }

func sharesOf(list []api.RoutingShare) map[string]float64 {
	all := map[string]float64{}
	for _, s := range list {
		all[s.Address] += s.Share
	}
	return all
}

// sharesNow returns the shares of the clients in no region.
func sharesNow(t *testing.T, n *harness.Node) map[string]float64 {
	t.Helper()
	list, err := n.Client.RoutingAnswers(t.Context(), documentName, "A")
	if refused, ok := errors.AsType[*api.Error](err); ok && refused.Status == 404 {
		return map[string]float64{}
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range list.Answers {
		if a.ClientRegion == "" {
			return sharesOf(a.Addresses)
		}
	}
	return map[string]float64{}
}

// The part that a plan says goes elsewhere is the part of real answers that does.
func TestDocument_ThePartThatGoesElsewhereDoes(t *testing.T) {
	t.Parallel()
	n := documentNode(t)
	apply := func(one, two int) api.Plan {
		plan, err := n.Client.Apply(t.Context(), api.ApplyRequest{Owner: "shop",
			Document: document("weighted", map[byte]int{1: one, 2: two}, 5)})
		if err != nil {
			t.Fatal(err)
		}
		return plan
	}
	const asked = 1000
	count := func() (first int) {
		for range asked {
			r := testbed.Exchange(t, "udp", n, documentName, dns.TypeA)
			if len(r.Answer) == 0 {
				t.Fatalf("no answer: %v", r)
			}
			if r.Answer[0].(*dns.A).A.String() == "192.0.2.1" {
				first++
			}
		}
		return first
	}
	apply(50, 50)
	before := count()
	testbed.Until(t, testbed.StartBound, "the answers are counted", func(ctx context.Context) error {
		flows, err := n.Client.RoutingFlows(ctx, url.Values{"domain": {documentName}})
		total := uint64(0)
		for _, f := range flows.Flows {
			total += f.RequestCount
		}
		if err == nil && total < asked {
			err = fmt.Errorf("%d answers", total)
		}
		return err
	})
	plan := apply(50, 75) // from half to two of five
	if got := plan.Answers.ElsewherePercent; math.Abs(got-10) > 0.1 || plan.Answers.Total < asked {
		t.Errorf("the plan says that %g %% of %d go elsewhere, want 10", got, plan.Answers.Total)
	}
	if moves := plan.Answers.Moves; len(moves) != 1 || moves[0].From != "us" || moves[0].To != "eu" {
		t.Errorf("moves: %+v", moves)
	}
	if after := count(); math.Abs(float64(before-after)-asked/10) > asked/50 { // turns are exact, but for where they begin
		t.Errorf("of %d answers %d were the first address's before, %d after", asked, before, after)
	}
}

// Two owners apply in turns while the node is killed: neither takes the other's.
func TestDocument_TwoOwnersLeaveEachOtherAlone(t *testing.T) {
	t.Parallel()
	n := documentNode(t)
	of := func(owner string, round int) api.ApplyRequest {
		name, policy := owner+".test.gslb.test", "weighted"
		doc := api.Document{Domains: []api.DocumentDomain{{DomainChange: api.DomainChange{Name: name,
			RoutingPolicy: &policy, Regions: &[]string{"eu"}}}}}
		for i := range 3 {
			weight := 1 + (round+i)%5
			doc.Servers = append(doc.Servers, api.DocumentServer{ServerCreate: api.ServerCreate{Service: name,
				Address: fmt.Sprintf("192.0.2.%d", 1+(round+i)%7), Port: 80, Weight: &weight, Region: "eu"}})
		}
		return api.ApplyRequest{Owner: owner, Prune: true, Document: doc}
	}
	const rounds = 30
	run := func(owner string) error {
		for round := range rounds {
			if err := eventually(t, n, of(owner, round)); err != nil {
				return fmt.Errorf("%s: %w", owner, err)
			}
		}
		return nil
	}
	ended := make(chan error, 2)
	for _, owner := range []string{"one", "two"} {
		go func() { ended <- run(owner) }()
	}
	for range 3 {
		if _, err := n.Kill(); err != nil {
			t.Error(err)
		}
		testbed.Start(t, n)
		ready(t, n)
	}
	for range 2 {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	for _, owner := range []string{"one", "two"} {
		plan, err := n.Client.Plan(t.Context(), of(owner, rounds-1))
		if err != nil || len(plan.Changes) > 0 || plan.Unchanged != 4 {
			t.Errorf("%s: to do: %+v, %v", owner, plan.Changes, err)
		}
	}
	doc, err := n.Client.Document(t.Context())
	if err != nil || len(doc.Domains) != 2 || len(doc.Servers) != 6 {
		t.Errorf("in the end: %+v, %v", doc, err)
	}
	again, err := n.Client.Plan(t.Context(), api.ApplyRequest{Document: doc})
	if err != nil || len(again.Changes) > 0 {
		t.Errorf("what was exported is to be changed: %+v, %v", again.Changes, err)
	}
}

// eventually applies a document as soon as the node is there and takes it.
func eventually(t *testing.T, n *harness.Node, request api.ApplyRequest) error {
	ctx, cancel := context.WithTimeout(t.Context(), testbed.StartBound)
	defer cancel()
	var refusal error
	err := harness.Until(ctx, "an apply", func(ctx context.Context) error {
		_, err := n.Client.Apply(ctx, request)
		if refused, ok := errors.AsType[*api.Error](err); ok && refused.Status != 503 &&
			!strings.Contains(err.Error(), "plan again") {
			refusal, err = err, nil
		}
		return err
	})
	return errors.Join(err, refusal)
}

// A document with one wrong object changes nothing.
func TestDocument_IsAppliedWholeOrNotAtAll(t *testing.T) {
	t.Parallel()
	n := documentNode(t)
	doc := document("weighted", map[byte]int{1: 1, 2: 1}, 5)
	doc.Servers[1].Region = "mars"
	_, err := n.Client.Apply(t.Context(), api.ApplyRequest{Document: doc})
	refused, ok := errors.AsType[*api.Error](err)
	if !ok || refused.Status != 400 || len(refused.Problems) != 1 || refused.Problems[0].Object != "servers[1]" {
		t.Fatalf("a region that is not there: %v %+v", err, refused)
	}
	held, err := n.Client.Document(t.Context())
	if err != nil || len(held.Domains)+len(held.Servers) > 0 {
		t.Errorf("a part of it is there: %+v, %v", held, err)
	}
	if r := testbed.Exchange(t, "udp", n, documentName, dns.TypeA); r.Rcode != dns.RcodeNameError {
		t.Errorf("answered with %s", dns.RcodeToString[r.Rcode])
	}
}

// What a plan says of another configuration file is what its reload makes of the answers.
func TestConfigPlan_SaysWhatAReloadMakesOfAnswers(t *testing.T) {
	t.Parallel()
	c := testbed.NewCluster(t, harness.Fast(), harness.Domain{Name: documentName, RoutingAlgorithm: "weighted",
		Regions: []string{"eu", "us"}})
	server := func(address string, weight int) harness.Server {
		return harness.Server{Address: netip.MustParseAddr(address), Port: 80, Weight: weight, Service: documentName,
			HealthCheck: harness.Fast().Check()}
	}
	n, err := c.AddNode("ow-1", "eu", map[string][]harness.Server{"eu": {server("192.0.2.1", 50)},
		"us": {server("192.0.2.2", 50)}})
	if err != nil {
		t.Fatal(err)
	}
	n.File.DNS.Zones = []string{"test.gslb.test"}
	n.File.Overwatch.Validation.Enabled = false
	testbed.Start(t, n)
	ready(t, n)
	plan := func() api.Plan {
		text, err := os.ReadFile(n.Path)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := n.Client.PlanConfig(t.Context(), text)
		if err != nil {
			t.Fatal(err)
		}
		return plan
	}
	if same := plan(); len(same.Changes)+len(same.Answers.Names)+len(same.RestartRequired) > 0 {
		t.Errorf("the file as it is: %+v", same)
	}
	at := slices.IndexFunc(n.File.Regions, func(r harness.Region) bool { return r.Name == "us" })
	n.File.Regions[at].Servers = []harness.Server{server("192.0.2.2", 25), server("192.0.2.3", 25)}
	n.File.API.More = map[string]any{"max_connections": 77}
	if err := n.WriteFile(); err != nil {
		t.Fatal(err)
	}
	said := plan()
	if len(said.Answers.Names) == 0 || len(said.Changes) == 0 || !slices.Contains(said.RestartRequired, "api") {
		t.Fatalf("another file: %+v", said)
	}
	testbed.HangUp(t, n)
	if is := sharesNow(t, n); !maps.EqualFunc(is, sharesOf(said.Answers.Names[0].After), near) || len(is) != 3 {
		t.Errorf("the plan said %v, it is %v", said.Answers.Names[0].After, is)
	}
}
