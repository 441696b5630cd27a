package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

const documentName = "shop.test.gslb.test"

// documentNode starts a node with the regions eu and us and without health checks, so that servers serve immediately.
func documentNode(t *testing.T) *harness.Node {
	t.Helper()
	return documentNodeWith(t, nil)
}

// documentNodeWith is documentNode with additional keys of the section api.
func documentNodeWith(t *testing.T, more map[string]any) *harness.Node {
	t.Helper()
	c := testbed.NewCluster(t, harness.Fast())
	n := testbed.AddNode(t, c, "ow-1", "eu", map[string][]harness.Server{"eu": nil, "us": nil})
	n.File.DNS.Zones = []string{"test.gslb.test"}
	n.File.Overwatch.Validation.Enabled = false
	n.File.API.More = more
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

// document returns one name with servers in both regions, given by the last octet of their addresses.
func document(algorithm string, weights map[byte]int, ttl int) api.Document {
	regions := []string{"eu", "us"}
	doc := api.Document{Domains: []api.DocumentDomain{{"name": documentName,
		"routing_algorithm": algorithm, "regions": regions, "ttl": ttl}}}
	for _, octet := range slices.Sorted(maps.Keys(weights)) {
		weight := weights[octet]
		doc.Servers = append(doc.Servers, api.DocumentServer{"service": documentName,
			"address": fmt.Sprintf("192.0.2.%d", octet), "port": 80, "weight": weight, "region": regions[octet%2]})
	}
	return doc
}

// For random changes, the answers after an apply equal the answers that the plan has predicted.
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

// sharesNow returns the shares for clients without a region.
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

// For random changes, the share of the recorded answers that a plan predicts to move does move, by name and in total: 1
// 000 changes with GSLB_FULL=1.
func TestDocument_ThePartThatGoesElsewhereDoes(t *testing.T) {
	t.Parallel()
	n := documentNode(t)
	random := rand.New(rand.NewPCG(21, 21))
	asked := map[string]int{"a.test.gslb.test": 400, "b.test.gslb.test": 200, "c.test.gslb.test": 100}
	mix := 0
	for _, count := range asked {
		mix += count
	}
	var before map[string]map[string]int
	for round := range testbed.InFull(1000, 15) + 1 {
		request := api.ApplyRequest{Owner: "shop", Prune: true, Force: true, Document: threeNames(random, asked)}
		plan, err := n.Client.Apply(t.Context(), request)
		if err != nil {
			t.Fatalf("change %d: %v", round, err)
		}
		after := countAnswers(t, n, asked)
		awaitFlows(t, n, uint64(mix*(round+1)))
		if before != nil {
			checkMoved(t, round, plan.Answers, asked, before, after)
		}
		before = after
	}
}

// threeNames returns names with servers in two random regions.
func threeNames(random *rand.Rand, names map[string]int) (all api.Document) {
	algorithms := []string{"weighted", "weighted", "round-robin", "failover"}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		weights := map[byte]int{1 + byte(random.IntN(4)): 1 + random.IntN(100)}
		for octet := byte(1); octet < 5; octet++ {
			if random.IntN(2) > 0 {
				weights[octet] = 1 + random.IntN(100)
			}
		}
		one := document(algorithms[random.IntN(len(algorithms))], weights, 5)
		one.Domains[0]["name"] = name
		for i := range one.Servers {
			one.Servers[i]["service"] = name
		}
		all.Domains, all.Servers = append(all.Domains, one.Domains...), append(all.Servers, one.Servers...)
	}
	return all
}

// countAnswers sends the given number of queries for each name, and counts the addresses.
func countAnswers(t *testing.T, n *harness.Node, asked map[string]int) map[string]map[string]int {
	t.Helper()
	counts := map[string]map[string]int{}
	for name, times := range asked {
		counts[name] = map[string]int{}
		for range times {
			r := testbed.Exchange(t, "udp", n, name, dns.TypeA)
			if len(r.Answer) == 0 {
				t.Fatalf("no answer: %v", r)
			}
			counts[name][r.Answer[0].(*dns.A).A.String()]++
		}
	}
	return counts
}

// awaitFlows waits until the node has recorded the given number of answers.
func awaitFlows(t *testing.T, n *harness.Node, asked uint64) {
	t.Helper()
	testbed.Until(t, testbed.StartBound, "the answers are counted", func(ctx context.Context) error {
		flows, err := n.Client.RoutingFlows(ctx, url.Values{})
		total := uint64(0)
		for _, f := range flows.Flows {
			total += f.RequestCount
		}
		if err == nil && total < asked {
			err = fmt.Errorf("%d answers of %d", total, asked)
		}
		return err
	})
}

// checkMoved compares the prediction of a plan with the answers that moved. The rotation is exact except for its start
// position.
func checkMoved(t *testing.T, round int, said api.PlanAnswers, asked map[string]int,
	before, after map[string]map[string]int) {
	t.Helper()
	const tolerance = 3.0 // percent
	percent := map[string]float64{}
	for _, row := range said.Names {
		percent[row.Name] = row.Percent
	}
	all, mix, toUS := 0, 0, 0
	for name, times := range asked {
		moved := 0
		toUS += inUS(after[name]) - inUS(before[name])
		for address, count := range before[name] {
			moved += max(0, count-after[name][address])
		}
		if is := 100 * float64(moved) / float64(times); math.Abs(is-percent[name]) > tolerance {
			t.Errorf("change %d: %g %% of %s went elsewhere, the plan says %g: %v -> %v", round, is, name,
				percent[name],
				before[name], after[name])
		}
		all, mix = all+moved, mix+times
	}
	if is := 100 * float64(all) / float64(mix); math.Abs(is-said.ElsewherePercent) > tolerance {
		t.Errorf("change %d: %g %% went elsewhere, the plan says %g", round, is, said.ElsewherePercent)
	}
	moved := 0.0
	for _, move := range said.Moves {
		switch {
		case move.From == move.To:
		case move.To == "us":
			moved += move.Percent
		case move.From == "us":
			moved -= move.Percent
		}
	}
	if is := 100 * float64(toUS) / float64(mix); math.Abs(is-moved) > tolerance {
		t.Errorf("change %d: %g %% went to us, the plan says %g: %+v", round, is, moved, said.Moves)
	}
}

// inUS counts the answers with a server of the region us. The last octet of these servers is odd.
func inUS(counts map[string]int) (n int) {
	for address, count := range counts {
		if (address[len(address)-1]-'0')%2 == 1 {
			n += count
		}
	}
	return n
}

// Two pipelines apply documents in a loop while the node is killed. Neither changes the objects of the other.
// GSLB_FULL=1 makes it 100 kills.
func TestDocument_TwoOwnersLeaveEachOtherAlone(t *testing.T) {
	t.Parallel()
	n := documentNode(t)
	of := func(owner string, round int) api.ApplyRequest {
		name, policy := owner+".test.gslb.test", "weighted"
		doc := api.Document{Domains: []api.DocumentDomain{{"name": name,
			"routing_algorithm": policy, "regions": []string{"eu"}}}}
		for i := range 3 {
			weight := 1 + (round+i)%5
			doc.Servers = append(doc.Servers, api.DocumentServer{"service": name,
				"address": fmt.Sprintf("192.0.2.%d", 1+(round+i)%7), "port": 80, "weight": weight, "region": "eu"})
		}
		return api.ApplyRequest{Owner: owner, Prune: true, Document: doc}
	}
	owners := []string{"one", "two"}
	var over atomic.Bool
	var applied [2]atomic.Int64
	ended := make(chan error, len(owners))
	for i, owner := range owners {
		go func() {
			var err error
			for round := 0; err == nil && !over.Load(); round++ {
				err = eventually(t, n, of(owner, round))
				applied[i].Add(1)
			}
			ended <- err
		}()
	}
	for range testbed.InFull(100, 5) {
		before := [2]int64{applied[0].Load(), applied[1].Load()}
		testbed.Until(t, testbed.StartBound, "both to have applied ten times", func(context.Context) error {
			if applied[0].Load() < before[0]+10 || applied[1].Load() < before[1]+10 {
				return fmt.Errorf("%d and %d times", applied[0].Load()-before[0], applied[1].Load()-before[1])
			}
			return nil
		})
		if _, err := n.Kill(); err != nil {
			t.Error(err)
		}
		testbed.Start(t, n)
		ready(t, n)
	}
	over.Store(true)
	for range owners {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	for _, owner := range owners {
		text, err := json.Marshal(of(owner, 0).Document)
		file := filepath.Join(t.TempDir(), owner+".json")
		if err = errors.Join(err, os.WriteFile(file, text, 0o600)); err != nil {
			t.Fatal(err)
		}
		control(t, n, "apply", "-f", file, "--owner", owner, "--prune").Want(t, testbed.ExitOK)
	}
	for _, owner := range owners {
		plan, err := n.Client.Plan(t.Context(), of(owner, 0))
		if err != nil || len(plan.Changes) > 0 || plan.Unchanged != 4 {
			t.Errorf("%s: to do: %+v, %v", owner, plan.Changes, err)
		}
	}
	doc, err := n.Client.Document(t.Context())
	if err != nil || len(doc.Domains) != 2 || len(doc.Servers) != 6 {
		t.Errorf("in the end: %+v, %v", doc, err)
	}
}

// applyPromise is the promised time of an apply of 10 000 objects on an idle machine.
const applyPromise = 5 * time.Second

// A single apply can contain 10 000 objects.
func TestDocument_TenThousandObjectsAreOneApply(t *testing.T) {
	t.Parallel()
	n := documentNode(t)
	var doc api.Document
	for i := range 2000 {
		one := document("weighted", map[byte]int{1: 1, 2: 2, 3: 3, 4: 4}, 30)
		one.Domains[0]["name"] = fmt.Sprintf("d%d.test.gslb.test", i)
		for j := range one.Servers {
			one.Servers[j]["service"] = one.Domains[0].Text("name")
		}
		doc.Domains, doc.Servers = append(doc.Domains, one.Domains...), append(doc.Servers, one.Servers...)
	}
	text, err := json.Marshal(doc)
	file := filepath.Join(t.TempDir(), "all.json")
	if err = errors.Join(err, os.WriteFile(file, text, 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, said := range []string{"Done: 10000 created", "Nothing to do: 10000 objects"} {
		began := time.Now()
		r := control(t, n, "apply", "-f", file, "--owner", "all")
		took := time.Since(began)
		t.Logf("%s: %s", said, took)
		if r.Code != testbed.ExitOK || !strings.Contains(r.Output, said) {
			t.Fatalf("code %d: %.2000s", r.Code, r.Output)
		}
		if testbed.Timed && took > applyPromise {
			t.Errorf("10 000 objects took %s, promised are %s", took, applyPromise)
		}
	}
}

// eventually applies a document when the node is running and accepts it.
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
	doc.Servers[1]["region"] = "mars"
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

// The answers after a reload of another configuration file equal the answers that the plan has predicted.
func TestConfigPlan_SaysWhatAReloadMakesOfAnswers(t *testing.T) {
	t.Parallel()
	c := testbed.NewCluster(t, harness.Fast(), harness.Domain{Name: documentName, RoutingAlgorithm: "weighted",
		Regions: []string{"eu", "us"}})
	server := func(address string, weight int) harness.Server {
		return harness.Server{Address: netip.MustParseAddr(address), Port: 80, Weight: weight, Service: documentName,
			HealthCheck: harness.Fast().Check()}
	}
	n := testbed.AddNode(t, c, "ow-1", "eu", map[string][]harness.Server{"eu": {server("192.0.2.1", 50)},
		"us": {server("192.0.2.2", 50)}})
	n.File.DNS.Zones = []string{"test.gslb.test"}
	n.File.Overwatch.Validation.Enabled = false
	testbed.Start(t, n)
	ready(t, n)
	plan := func() api.Plan {
		text := testbed.Read(t, n.Path)
		plan, err := n.Client.PlanConfig(t.Context(), []byte(text))
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
