package dnsserver // inside: it uses filter and respond

import (
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/miekg/dns"
	"github.com/prometheus/client_golang/prometheus"

	"gslb.internal/overwatch/internal/answer/decisions"
	"gslb.internal/overwatch/internal/answer/dnstap"
	"gslb.internal/overwatch/internal/answer/querylog"
	"gslb.internal/overwatch/internal/answer/zone"
	"gslb.internal/overwatch/internal/policy"
	"gslb.internal/overwatch/internal/state/config"
)

// observed returns a responder with a filter, and a function that answers a query and reports whether it is selected.
func observed(t *testing.T, f config.QueryFilter) (*responder, func(name string, rtype uint16) bool) {
	t.Helper()
	tap, err := dnstap.New(dnstap.Options{Address: "unix:/x", Registerer: prometheus.NewRegistry()})
	if err != nil {
		t.Fatal(err)
	}
	r, set := testResponder(testView(t)), new(atomic.Pointer[filter])
	set.Store(newFilter(&f))
	r.socketRecorder = decisions.New(0, nil).NewSocketRecorder()
	r.observers = &observers{tap: tap.NewWorker(), tapped: sampler{filter: set}, recorder: r.socketRecorder}
	return r, func(name string, rtype uint16) bool {
		r.respond(query(t, name, rtype), testClient, false, make([]byte, 0, udpSize))
		return r.observers.isSelected(r.request)
	}
}

func TestFilter_SelectsByNameTypeAndOutcome(t *testing.T) {
	type asked struct {
		name  string
		rtype uint16
	}
	all := []asked{{"one.gslb.test.", dns.TypeA}, {"One.gslb.test.", dns.TypeAAAA}, {"nx.gslb.test.", dns.TypeA},
		{"www.example.org.", dns.TypeA}, {"xone.gslb.test.", dns.TypeA}, {".", dns.TypeNS}}
	for _, c := range []struct {
		filter config.QueryFilter
		want   []int
	}{
		{config.QueryFilter{Sample: 1}, []int{0, 1, 2, 3, 4, 5}},
		{config.QueryFilter{}, nil},
		{config.QueryFilter{Sample: 1, Names: []string{"ONE.gslb.test", "example.org"}}, []int{0, 1, 3}},
		{config.QueryFilter{Sample: 1, Names: []string{"gslb.test."}}, []int{0, 1, 2, 4}},
		{config.QueryFilter{Sample: 1, Names: []string{"."}}, []int{0, 1, 2, 3, 4, 5}},
		{config.QueryFilter{Sample: 1, Types: []string{"AAAA", "NS"}}, []int{1, 5}},
		{config.QueryFilter{Sample: 1, Outcomes: []string{"nxdomain", "nodata"}}, []int{1, 2, 4}},
		{config.QueryFilter{Sample: 1, Outcomes: []string{"success"}, Types: []string{"AAAA"}}, nil},
	} {
		_, ask := observed(t, c.filter)
		var got []int
		for i, q := range all {
			if ask(q.name, q.rtype) {
				got = append(got, i)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%+v selects %v, want %v", c.filter, got, c.want)
		}
	}
}

// One in N of the queries that pass the other conditions is selected.
func TestFilter_SamplesTheQueriesThatPass(t *testing.T) {
	_, ask := observed(t, config.QueryFilter{Sample: 10, Types: []string{"A"}})
	selected := 0
	for range 100 {
		if ask("one.gslb.test.", dns.TypeAAAA) {
			t.Fatal("a query of another type is selected")
		}
		if ask("one.gslb.test.", dns.TypeA) {
			selected++
		}
	}
	if selected != 10 {
		t.Errorf("%d of 100 are selected", selected)
	}
}

func TestFilter_KnowsTheOutcomesOfTheConfiguration(t *testing.T) {
	if want := append(config.Outcomes(), "dropped"); !slices.Equal(want, statusNames[:]) {
		t.Errorf("%q, want %q", statusNames, want)
	}
}

// The message for a load-balanced answer has the id of the decision and its generation. A query without a decision has
// neither, also after such an answer.
func TestRecord_HasTheDecision(t *testing.T) {
	r, ask := observed(t, config.QueryFilter{Sample: 1})
	input := &policy.DecisionInput{Generation: 57}
	decided := [2]policy.Decision{{Outcome: policy.Success, TTL: 60, Input: input,
		Members: []policy.Member{{Address: netip.MustParseAddr("192.0.2.1"), Parts: 1}}}, {Input: input}}
	if _, err := zone.NewWriter().SetAnswers(r.view(), "app.gslb.test.", decided, 1); err != nil {
		t.Fatal(err)
	}
	from := netip.MustParseAddrPort("192.0.2.1:53")
	ask("one.gslb.test.", dns.TypeA)
	ask("app.gslb.test.", dns.TypeA)
	r.record([]byte("query"), nil, from, from)
	if extra := string(r.observers.message.Extra); !strings.HasPrefix(extra, "decision=") ||
		!strings.HasSuffix(extra, "-0-1 generation=57") {
		t.Errorf("%q", extra)
	}
	log, err := querylog.New(querylog.Options{Registerer: prometheus.NewRegistry()})
	if err != nil {
		t.Fatal(err)
	}
	r.observers.log, r.observers.logged = log.NewWorker(r.socketRecorder), r.observers.tapped
	ask("app.gslb.test.", dns.TypeA)
	r.record([]byte("query"), nil, from, from)
	if e := r.observers.entry; e.Selection.Input != input || e.Decision != 2 || e.Outcome != "success" || !e.Dropped ||
		e.Type != dns.TypeA || string(e.Name) != "\x03app\x04gslb\x04test\x00" || e.Client != testClient || e.TCP {
		t.Errorf("%+v", e)
	}
	ask("nx.gslb.test.", dns.TypeA)
	r.record([]byte("query"), nil, from, from)
	if extra := string(r.observers.message.Extra); extra != "" {
		t.Errorf("%q", extra)
	}
}

func TestRecord_AllocatesNothing(t *testing.T) {
	r, _ := observed(t, config.QueryFilter{Sample: 1, Names: []string{"gslb.test"}, Types: []string{"A"}})
	out, from := make([]byte, 0, udpSize), netip.MustParseAddrPort("192.0.2.1:53")
	packet := query(t, "app.gslb.test.", dns.TypeA)
	r.respond(packet, testClient, false, out)
	if n := testing.AllocsPerRun(100, func() {
		reply := r.respond(packet, testClient, false, out)
		if !r.observers.isSelected(r.request) {
			t.Fatal("not selected")
		}
		r.record(packet, reply, from, from)
	}); n != 0 {
		t.Errorf("%.0f allocations", n)
	}
}
