package dns_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

// While backends fail and recover, the explanation of the API agrees with DNS: exactly the backends with a share are in
// the answers, provided that no change occurs between the two requests. A backend that is down is excluded with its
// reason, and with the answer if it were up. gslbctl and the explanation over DNS agree, and so do the explanations of
// previous answers.
func TestWhy_TheExplanationIsWhatIsAnsweredWhileHealthChanges(t *testing.T) {
	t.Parallel()
	s := newSite(t, 1, 3)
	n := s.Nodes[0]
	n.File.Routing = &harness.Routing{DecisionSample: 1}
	s.StartAll(t)
	began := time.Now()
	compared := 0
	for round, b := range []*harness.Backend{s.Backends[0], s.Backends[1], s.Backends[0]} {
		killed := testbed.Kill(t, b)
		compared += s.explainedAlike(t, n, time.Second)
		s.Gone(t, n, b.At.Addr(), killed, s.Timing.Detection())
		s.Holds(t, "the explanation", func() error { return s.explainsTheLossOf(t, n, b) })
		if round == 0 {
			whySays(t, n, b.At.String())
			gslbctlSays(t, n, b.At.String())
		}
		testbed.Start(t, b)
		testbed.Until(t, testbed.StartBound, "the backend", b.Serving)
		back := time.Now()
		compared += s.explainedAlike(t, n, time.Second)
		s.Answered(t, n, b.At.Addr(), back, testbed.StartBound)
	}
	if compared < 50 {
		t.Errorf("only %d answers were compared", compared)
	}
	s.decisionsTellTheStory(t, n, began)
}

// explainedAlike compares answers with explanations for a while, and returns their number.
func (s *site) explainedAlike(t *testing.T, n *harness.Node, span time.Duration) (compared int) {
	t.Helper()
	for end := time.Now().Add(span); time.Now().Before(end); {
		before := explained(t, n)
		r := testbed.Exchange(t, "udp", n, testbed.AppName, dns.TypeA)
		if after := explained(t, n); after.Generation != before.Generation {
			continue
		}
		compared++
		if len(r.Answer) != 1 || before.SelectedBackend == nil {
			t.Fatalf("DNS has %d answers, explained are %+v", len(r.Answer), before)
		}
		a := r.Answer[0].(*dns.A)
		answering := append(before.Alternatives, *before.SelectedBackend)
		if !slices.ContainsFunc(answering, func(b api.RoutingBackend) bool {
			return b.Address == a.A.String() &&
				b.Share > 0
		}) || int(a.Hdr.Ttl) != before.TTL {
			t.Fatalf("DNS answers %v, explained is %+v", a, before)
		}
	}
	return compared
}

func explained(t *testing.T, n *harness.Node) api.RoutingResult {
	t.Helper()
	test, err := n.Client.TestRouting(t.Context(), api.RoutingTestRequest{Domain: testbed.AppName, ClientIP: "127.0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	return test.Result
}

func (s *site) explainsTheLossOf(t *testing.T, n *harness.Node, b *harness.Backend) error {
	t.Helper()
	r := explained(t, n)
	lost := slices.IndexFunc(r.Excluded, func(x api.RoutingExcluded) bool { return x.Address == b.At.Addr().String() })
	if lost < 0 || !strings.Contains(r.Excluded[lost].Reason, "unhealthy") || len(r.Alternatives) != 1 {
		return fmt.Errorf("%s is down, and explained is %+v", b.At, r)
	}
	if !slices.ContainsFunc(r.WouldBe, func(w api.RoutingWouldBe) bool {
		return w.IfUp == b.At.String() &&
			len(w.Answers) == 3
	}) {
		return fmt.Errorf("what would be if %s were up is not told: %+v", b.At, r.WouldBe)
	}
	return nil
}

// whySays checks that the explanation over DNS contains a backend, for both transports. A validating client receives no
// explanation.
func whySays(t *testing.T, n *harness.Node, backend string) {
	t.Helper()
	for _, network := range []string{"udp", "tcp"} {
		r := testbed.Exchange(t, network, n, "_why."+testbed.AppName, dns.TypeTXT)
		text := fmt.Sprint(r.Answer)
		if r.Rcode != dns.RcodeSuccess || !strings.Contains(text, "not "+backend) ||
			!strings.Contains(text, "if "+backend+" were up") {
			t.Errorf("over %s: %v", network, r)
		}
	}
	m := new(dns.Msg).SetQuestion("_why."+testbed.AppName+".", dns.TypeTXT)
	m.SetEdns0(1232, true)
	r, _, err := (&dns.Client{Timeout: testbed.Patience}).ExchangeContext(t.Context(), m, n.DNS.String())
	if err != nil || r.Rcode != dns.RcodeNameError || len(r.Answer) != 0 ||
		!slices.ContainsFunc(r.Ns, func(rr dns.RR) bool { return rr.Header().Rrtype == dns.TypeNSEC }) {
		t.Errorf("with DO: %v, %v; want the denial", r, err)
	}
}

// gslbctlSays checks that gslbctl's output contains a backend, and that its exit code reports whether there is an
// answer.
func gslbctlSays(t *testing.T, n *harness.Node, backend string) {
	t.Helper()
	b := testbed.Binaries(t)
	for _, c := range []struct {
		name string
		code int
		says string
	}{{testbed.AppName, 0, backend}, {"no." + testbed.AppName, 1, "domain_not_found"}} {
		testbed.Command(t, b.Control, "--api", n.API.String(), "routing", "test", c.name, "--client", "127.0.0.1").Want(t,
			c.code, c.says)
	}
}

// decisionsTellTheStory checks the record of the answers since a time: the sample contains every backend, the flows
// count all answers, and a reload ends the sampling.
func (s *site) decisionsTellTheStory(t *testing.T, n *harness.Node, began time.Time) {
	t.Helper()
	var list api.RoutingDecisionList
	testbed.Until(t, testbed.StartBound, "the sample to have each backend", func(ctx context.Context) (err error) {
		list, err = n.Client.RoutingDecisions(ctx, url.Values{"domain": {testbed.AppName},
			"start_time": {began.UTC().Format(time.RFC3339)}, "limit": {"1000"}})
		if err != nil {
			return err
		}
		seen := map[string]bool{}
		for _, d := range list.Decisions {
			at, err := netip.ParseAddrPort(d.SelectedServer)
			if err != nil || d.ClientSubnet != "127.0.0.0/24" || d.Outcome != api.RoutingSuccess {
				t.Fatalf("%+v", d)
			}
			seen[at.Addr().String()] = true
		}
		if len(seen) != len(s.Backends) || list.Total < 100 {
			return fmt.Errorf("%d decisions with %v", list.Total, seen)
		}
		return nil
	})
	past, err := n.Client.ExplainDecision(t.Context(), list.Decisions[0].ID)
	if err != nil || past.Result.SelectedBackend == nil || past.Result.Domain != testbed.AppName {
		t.Errorf("%+v, %v", past, err)
	}
	flows, err := n.Client.RoutingFlows(t.Context(), url.Values{"domain": {testbed.AppName}})
	if err != nil || flows.Total != 1 || flows.Flows[0].DestinationRegion != "eu" ||
		flows.Flows[0].RequestCount < uint64(list.Total) {
		t.Errorf("%+v, %v", flows, err)
	}
	n.File.Routing.DecisionSample = 0
	testbed.Rewrite(t, n)
	testbed.HangUp(t, n)
	testbed.Until(t, testbed.ReloadBound, "sampling to end", func(ctx context.Context) error {
		newest := func() string {
			list, err := n.Client.RoutingDecisions(ctx, url.Values{"limit": {"1"}})
			if err != nil || len(list.Decisions) == 0 {
				return fmt.Sprint(err)
			}
			return list.Decisions[0].ID
		}
		before := newest()
		for range 20 {
			testbed.Exchange(t, "udp", n, testbed.AppName, dns.TypeA)
		}
		if newest() != before {
			return errors.New("answers are still sampled")
		}
		return nil
	})
}
