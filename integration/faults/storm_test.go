package faults_test

import (
	"slices"
	"testing"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/testbed"
)

// slowest bounds the time of 99 of 100 answers while a node is attacked, on a machine at rest.
const slowest = 20 * time.Millisecond

// tcpAnswers asks over a new TCP connection every 100 ms for a while and fails the test for each answer that is
// missing.
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

// steady checks that each lookup since the beginning of all had a good answer (I1). That 99 of 100 since a time took no
// longer than promised is judged on a machine at rest.
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
