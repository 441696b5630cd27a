package cli // inside: it uses exitDegraded, exitNotAsked and exitWell

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/gslbctl/internal/fleet"
	"gslb.internal/shared/api"
)

// inCluster runs a command line on two nodes and an unreachable third node.
func inCluster(t *testing.T, first, second *node, args ...string) result {
	t.Helper()
	line := []string{"--api", documented(0), "--api", documented(1), "--api", dead(t)}
	return call(t, cmdline.System{}, []*node{first, second}, append(line, args...)...)
}

// wasAsked reports whether a node received a request for a path.
func (n *node) wasAsked(path string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.ContainsFunc(n.asked, func(line string) bool { return strings.HasPrefix(line, "GET "+path) })
}

// A command for all nodes prints the results of the answering nodes, names the missing node, and exits with 1. With
// --node it queries one node, and no node is missing.
func TestCluster_NamesTheNodeThatIsMissing(t *testing.T) {
	for _, line := range []string{"health", "health servers", "health regions", "metrics overview", "metrics history",
		"metrics node eu-1", "metrics region eu", "metrics routing", "routing flows", "routing decisions", "audit list",
		"audit tail", "audit verify", "events",
		"notifications list"} {
		for _, format := range []string{"table", "json", "yaml"} {
			first, second := startNode(t), startNode(t)
			first.answers["GET /api/health"] = api.Health{Status: api.ServiceHealthy}
			second.answers["GET /api/health"] = api.Health{Status: api.ServiceHealthy}
			for _, n := range []*node{first, second} {
				n.answers["GET /api/v1/ready"] = api.Readiness{Ready: true, DNSReady: true, HealthReady: true}
			}
			words := append(strings.Fields(line), "-o", format)
			r := inCluster(t, first, second, words...)
			if r.code != fleet.Degraded ||
				!strings.Contains(r.errors, "1 of 3 nodes is missing here: nothing listens on http://") ||
				r.out == "" ||
				strings.Count(r.errors, "\n") != 1 {
				t.Errorf("%s -o %s: exit code %d, %s%s", line, format, r.code, r.out, r.errors)
			}
			if format == "json" && line != "audit tail" && line != "events" && !strings.Contains(r.out,
				`"error": "nothing listens on`) {
				t.Errorf("%s: the output does not name it: %s", line, r.out)
			}
			second.asked = nil
			r = inCluster(t, first, second, append(words, "--node", documented(0))...)
			if r.code != fleet.OK || r.errors != "" || len(second.asked) > 0 {
				t.Errorf("%s --node: exit code %d, %s%v", line, r.code, r.errors, second.asked)
			}
			r = inCluster(t, first, second, append(words, "--node", "192.0.2.99")...)
			if r.code != fleet.NotAsked || !strings.Contains(r.errors, "--node") {
				t.Errorf("%s with an unknown node: %+v", line, r)
			}
		}
	}
}

// The entries of all nodes are one list, sorted by time, with the name of the node in each entry.
func TestCluster_AuditIsOneListByTime(t *testing.T) {
	first, second := startNode(t), startNode(t)
	entry := func(id uint64, minutes int) api.AuditEntry {
		return api.AuditEntry{ID: id, Timestamp: now.Add(time.Duration(minutes) * time.Minute), Action: api.AuditDrain,
			Resource: "server", Actor: "deploy", Status: api.AuditSuccess}
	}
	const path = "GET /api/v1/audit-logs"
	first.answers[path] = api.AuditList{Entries: []api.AuditEntry{entry(8, -1), entry(7, -5)}, Total: 8}
	second.answers[path] = api.AuditList{Entries: []api.AuditEntry{entry(3, -2), entry(2, -9)}, Total: 3}
	nodes := []*node{first, second}
	r := ask(t, "audit list --limit 3", nodes...)
	rows := strings.Split(strings.TrimSpace(r.out), "\n")
	if r.code != fleet.OK || len(rows) != 4 || !strings.HasPrefix(rows[1], "http://"+documented(0)) ||
		!strings.HasPrefix(rows[2], "http://"+documented(1)) || !strings.HasPrefix(rows[3], "http://"+documented(0)) {
		t.Errorf("%d %s%s", r.code, r.out, r.errors)
	}
	r = ask(t, "-o json audit list", nodes...)
	var list auditList
	if err := json.Unmarshal([]byte(r.out), &list); err != nil || list.Total != 11 || len(list.Entries) != 4 ||
		list.Entries[1].ID != 3 || list.Entries[1].Node != "http://"+documented(1) || len(list.Nodes) != 2 {
		t.Errorf("%v %s", err, r.out)
	}
	r = ask(t, "-o name audit tail", nodes...)
	if r.out != "2\n7\n3\n8\n" {
		t.Errorf("the newest last: %q %s", r.out, r.errors)
	}
}

// One invalid chain makes the result invalid, and the message names its node.
func TestCluster_AuditVerifyJudgesEachNode(t *testing.T) {
	first, second := startNode(t), startNode(t)
	list := fakeAudit()
	list.Entries[1].Actor = "somebody else"
	second.answers["GET /api/v1/audit-logs"] = list
	r := ask(t, "audit verify", first, second)
	if r.code != fleet.Degraded || r.errors != "" ||
		!strings.Contains(r.out, "The audit log of http://"+documented(0)+" is whole: 2 entries.") ||
		!strings.Contains(r.out, "The audit log of http://"+documented(1)+" is not as it was written: audit entry 2") {
		t.Errorf("%+v", r)
	}
}

// The command adds up flows, and computes the shares from the sums.
func TestCluster_FlowsAreSummed(t *testing.T) {
	first, second := startNode(t), startNode(t)
	flow := func(domain string, count uint64, share float64) api.RoutingFlow {
		return api.RoutingFlow{SourceRegion: "eu", DestinationRegion: "eu", Domain: domain, RequestCount: count,
			Share:     share,
			Timestamp: now}
	}
	first.answers["GET /api/v1/routing/flows"] = api.RoutingFlowList{Uncounted: 2, Total: 2,
		Flows: []api.RoutingFlow{flow("a.example", 60, 0.6), flow("b.example", 40, 0.4)}}
	second.answers["GET /api/v1/routing/flows"] = api.RoutingFlowList{Uncounted: 3, Total: 1,
		Flows: []api.RoutingFlow{flow("b.example", 100, 1)}}
	r := ask(t, "-o json routing flows", first, second)
	var list flowList
	err := json.Unmarshal([]byte(r.out), &list)
	if err != nil || r.code != fleet.OK || list.Uncounted != 5 || len(list.Flows) != 2 || list.Total != 2 ||
		list.Flows[0].Domain != "b.example" || list.Flows[0].RequestCount != 140 || list.Flows[0].Share != 0.7 {
		t.Errorf("%v %+v", err, r)
	}
}

// A decision belongs to one node. The list contains the name of the node, and why queries all nodes.
func TestCluster_DecisionsNameTheirNode(t *testing.T) {
	first, second := startNode(t), startNode(t)
	nodes := []*node{first, second}
	r := ask(t, "routing decisions", nodes...)
	if !strings.HasPrefix(r.out, "NODE") || !strings.Contains(r.out, "\nhttp://"+documented(1)) {
		t.Errorf("%+v", r)
	}
	const path = "/api/v1/routing/decisions/0-2"
	why := func() result {
		return ask(t, "routing why 0-2", nodes...)
	}
	if r = why(); r.code != fleet.NotAsked || !strings.Contains(r.errors, "--node") {
		t.Errorf("of two nodes: %+v", r)
	}
	delete(first.answers, "GET "+path)
	if r = why(); r.code != fleet.OK || !second.wasAsked(path) {
		t.Errorf("of one that knows it: %+v", r)
	}
	delete(second.answers, "GET "+path)
	if r = why(); r.code != fleet.Degraded {
		t.Errorf("of none: %+v", r)
	}
}

// The table shows metrics by node and for the cluster: the sum of rates, the weighted mean of shares, and the worst
// value of shared state.
func TestCluster_FiguresAreJoined(t *testing.T) {
	first, second := startNode(t), startNode(t)
	first.answers["GET /api/v1/metrics/overview"] = api.OverviewAnswer{Overview: api.Overview{QueriesPerSec: 30,
		ErrorRate: 0.1, HealthyServers: 4, UnhealthyServers: 1, ResponseTimes: api.ResponseTimes{P99MS: 5},
		DNSSECEnabled: true, UptimeSeconds: 60, Timestamp: now}}
	second.answers["GET /api/v1/metrics/overview"] = api.OverviewAnswer{Overview: api.Overview{QueriesPerSec: 10,
		ErrorRate: 0.5, HealthyServers: 3, UnhealthyServers: 2, ResponseTimes: api.ResponseTimes{P99MS: 9},
		UptimeSeconds: 90, Timestamp: now.Add(time.Second)}}
	nodes := []*node{first, second}
	line := []string{"--api", documented(0), "--api", documented(1), "metrics", "overview"}
	r := call(t, cmdline.System{}, nodes, append(slices.Clone(line), "-o", "json")...)
	var got struct {
		Overview api.Overview
		Nodes    []struct {
			Node     string
			Overview api.Overview
		}
	}
	err := json.Unmarshal([]byte(r.out), &got)
	if o := got.Overview; err != nil || o.QueriesPerSec != 40 || o.ErrorRate != 0.2 || o.HealthyServers != 3 ||
		o.UnhealthyServers != 2 || o.ResponseTimes.P99MS != 9 || o.DNSSECEnabled || o.UptimeSeconds != 60 ||
		!o.Timestamp.Equal(now.Add(time.Second)) || len(got.Nodes) != 2 || got.Nodes[1].Overview.QueriesPerSec != 10 {
		t.Errorf("%v %s", err, r.out)
	}
	r = call(t, cmdline.System{}, nodes, line...)
	if !strings.HasPrefix(r.out, "FIGURE") || !strings.Contains(strings.SplitN(r.out, "\n", 2)[0], "ALL") {
		t.Errorf("%+v", r)
	}
	for _, n := range nodes {
		n.answers["GET /api/v1/metrics/routing"] = api.RoutingStatsAnswer{Stats: api.RoutingStats{TotalDecisions: 5,
			ByRegion: map[string]uint64{"eu.west": 5, n.url: 1}}}
		n.answers["GET /api/v1/metrics/history"] = api.History{DataPoints: []api.HistoryPoint{
			{Timestamp: now.Truncate(time.Minute).Add(3 * time.Millisecond),
				Values: map[string]float64{"queries_per_sec": 4,
					"error_rate": 0.5}}}, Total: 1}
	}
	r = ask(t, "-o json metrics routing", nodes...)
	var stats api.RoutingStatsAnswer
	if err := json.Unmarshal([]byte(r.out), &stats); err != nil || stats.Stats.TotalDecisions != 10 ||
		stats.Stats.ByRegion["eu.west"] != 10 || len(stats.Stats.ByRegion) != 3 {
		t.Errorf("%v %s", err, r.out)
	}
	r = ask(t, "-o json metrics history", nodes...)
	var history api.History
	if err := json.Unmarshal([]byte(r.out), &history); err != nil || len(history.DataPoints) != 1 ||
		history.DataPoints[0].Values["queries_per_sec"] != 8 || history.DataPoints[0].Values["error_rate"] != 0.5 {
		t.Errorf("%v %s", err, r.out)
	}
}

// The table has one row for a server if all nodes agree, or else one row for each distinct view.
func TestCluster_HealthShowsWhoSeesItOtherwise(t *testing.T) {
	first, second := startNode(t), startNode(t)
	list := func(status api.CheckStatus) api.ServerHealthList {
		return api.ServerHealthList{Total: 2, Servers: []api.ServerHealth{
			{ID: "a:192.0.2.1:80", Service: "a", Address: "192.0.2.1", Port: 80, Status: api.CheckHealthy},
			{ID: "a:192.0.2.2:80", Service: "a", Address: "192.0.2.2", Port: 80, Status: status}}}
	}
	first.answers["GET /api/v1/health/servers"] = list(api.CheckHealthy)
	second.answers["GET /api/v1/health/servers"] = list(api.CheckUnhealthy)
	nodes := []*node{first, second}
	r := ask(t, "health servers", nodes...)
	rows := strings.Split(strings.TrimSpace(r.out), "\n")
	if len(rows) != 4 || !strings.Contains(rows[1], "all 2") || !strings.Contains(rows[2], documented(0)) ||
		!strings.Contains(rows[3], documented(1)) {
		t.Errorf("%s%s", r.out, r.errors)
	}
	r = ask(t, "-o name health servers", nodes...)
	if r.out != "a:192.0.2.1:80\na:192.0.2.2:80\n" {
		t.Errorf("%q", r.out)
	}
	second.answers["GET /api/health"] = api.Health{Status: api.ServiceUnhealthy, Message: "DNS is silent"}
	first.answers["GET /api/health"] = api.Health{Status: api.ServiceHealthy}
	r = ask(t, "health", nodes...)
	if r.code != fleet.Degraded || !strings.Contains(r.out, "unhealthy") || !strings.Contains(r.out, "DNS is silent") ||
		strings.Count(r.out, "\n") != 3 {
		t.Errorf("%+v", r)
	}
}
