package observability_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/miekg/dns"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

// A node logs its queries with the decisions of the API. Another node, whose disk is full, answers, counts the dropped
// lines and reports the condition.
func TestQueryLog_LogsDecisionsAndSurvivesAFullDisk(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "queries.json")
	s := testbed.NewSite(t, 2, 1)
	for i, path := range []string{file, "/dev/full"} {
		n := s.Nodes[i]
		n.File.DNS.QueryLog = &harness.QueryLog{File: path, Types: []string{"AAAA", "A"}}
		n.File.Routing = &harness.Routing{DecisionSample: 1}
	}
	s.StartAll(t)
	logging, full := s.Nodes[0], s.Nodes[1]
	a := testbed.Exchange(t, "tcp", logging, testbed.AppName, dns.TypeA).Answer[0].(*dns.A)
	testbed.Exchange(t, "udp", logging, "no."+testbed.AppName, dns.TypeTXT)
	testbed.Exchange(t, "udp", logging, "no."+testbed.AppName, dns.TypeAAAA)
	var lines []loggedQuery
	testbed.Until(t, testbed.Patience, "the lines", func(context.Context) (err error) {
		lines, err = loggedQueries(file)
		if err == nil && !slices.ContainsFunc(lines, func(l loggedQuery) bool { return l.Outcome == "nxdomain" }) {
			err = fmt.Errorf("%d lines", len(lines))
		}
		return err
	})
	i := slices.IndexFunc(lines, func(l loggedQuery) bool { return l.Protocol == "tcp" })
	if i < 0 {
		t.Fatalf("%+v", lines)
	}
	l := lines[i]
	if l.Name != testbed.AppName || l.Type != "A" || l.Client != "127.0.0.0/24" || l.Outcome != "success" ||
		l.Routing != "success" || !strings.HasPrefix(l.Backend, a.A.String()+":") || l.Region == "" || l.Time == "" {
		t.Errorf("%+v, the answer is %s", l, a)
	}
	explained, err := logging.Client.ExplainDecision(t.Context(), l.Decision)
	if err != nil || explained.Result.Generation != l.Generation ||
		!strings.HasPrefix(l.Backend, explained.Result.SelectedBackend.Address) {
		t.Errorf("%+v, %v, logged is %+v", explained, err, l)
	}
	if slices.ContainsFunc(lines, func(l loggedQuery) bool { return l.Type == "TXT" }) {
		t.Error("the filter passed a query of another type")
	}

	testbed.Exchange(t, "udp", full, testbed.AppName, dns.TypeA)
	testbed.Until(t, testbed.Patience, "the condition", func(ctx context.Context) error {
		list, err := full.Client.Conditions(ctx)
		if err == nil && !slices.ContainsFunc(list.Conditions, func(c api.Condition) bool {
			return c.Kind == api.QueryLogFails && strings.Contains(c.Sentence, "no space left")
		}) {
			err = fmt.Errorf("%+v", list.Conditions)
		}
		return err
	})
	if got := testbed.Metric(t, full, `gslb_query_log_dropped_total{reason="write_failed"}`); got == 0 {
		t.Error("no line was counted as dropped")
	}
	testbed.Exchange(t, "udp", full, testbed.AppName, dns.TypeA)
}

// loggedQuery is a line of the query log.
type loggedQuery struct {
	Time, Client, Protocol, Name, Type, Outcome, Routing, Region, Backend, Decision string
	Generation                                                                      uint64
}

func loggedQueries(path string) (all []loggedQuery, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	for line := range bytes.Lines(text) {
		var one loggedQuery
		if err := json.Unmarshal(line, &one); err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}
