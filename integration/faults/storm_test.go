package faults_test

import (
	"slices"
	"testing"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/testbed"
)

// slowest is the maximum 99th percentile of the answer time during an attack, on an idle machine.
const slowest = 20 * time.Millisecond

// tcpAnswers queries over a new TCP connection every 100 ms for a while, and fails the test for each missing answer.
func tcpAnswers(t *testing.T, n *harness.Node, over time.Duration) {
	t.Helper()
	client := &dns.Client{Net: "tcp", Timeout: testbed.Patience}
	var times []time.Duration
	testbed.During(t, over, 100*time.Millisecond, func() {
		began := time.Now()
		r, _, err := client.Exchange(new(dns.Msg).SetQuestion(testbed.AppName+".", dns.TypeA), n.DNS.String())
		if err != nil || r.Rcode != dns.RcodeSuccess || len(r.Answer) == 0 {
			t.Errorf("over TCP: %v, %v", r, err)
			return
		}
		took := time.Since(began)
		testbed.InTime(t, "an answer over TCP", 3*harness.AnswerBound, began, began.Add(took))
		times = append(times, took)
	})
	if slices.Sort(times); len(times) == 0 {
		return
	}
	t.Logf("%d answers over TCP, slowest %s", len(times), times[len(times)-1].Round(time.Microsecond))
}

// steady checks that every lookup since the start of the test had a good answer (I1). On an idle machine it also checks
// the 99th percentile of the answer time since a time.
func steady(t *testing.T, s *testbed.Site, n *harness.Node, since time.Time, promise time.Duration) {
	t.Helper()
	s.NoFailures(t, n, s.Began)
	var times []time.Duration
	for _, a := range s.Watch.Since(n, testbed.AppName, since) {
		times = append(times, a.Took)
	}
	slices.Sort(times)
	p99 := times[len(times)*99/100]
	t.Logf("%d lookups, p99 %s", len(times), p99.Round(10*time.Microsecond))
	testbed.InTime(t, "99 of 100 lookups", promise, since, since.Add(p99))
}
