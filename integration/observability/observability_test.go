package observability_test

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"gslb.internal/integration/harness/testbed"
)

const observability = "../../packaging/observability"

// rule is an alert rule.
type rule struct {
	Alert       string            `yaml:"alert"`
	Expr        string            `yaml:"expr"`
	Labels      map[string]string `yaml:"labels,omitempty"`
	Annotations map[string]string `yaml:"annotations,omitempty"`
}

// ruleGroups is a file of rules.
type ruleGroups struct {
	Groups []ruleGroup `yaml:"groups"`
}

type ruleGroup struct {
	Name  string `yaml:"name"`
	Rules []rule `yaml:"rules"`
}

func alertRules(t *testing.T) (rules []rule) {
	t.Helper()
	text := testbed.Read(t, filepath.Join(observability, "gslb-alerts.yaml"))
	var found ruleGroups
	if err := yaml.Unmarshal([]byte(text), &found); err != nil {
		t.Fatal(err)
	}
	for _, g := range found.Groups {
		rules = append(rules, g.Rules...)
	}
	if len(rules) == 0 {
		t.Fatal("no rules")
	}
	return rules
}

// panel contains the tested fields of a dashboard panel.
type panel struct {
	ID         int
	Type       string
	Title      string
	Datasource struct{ UID string }
	GridPos    struct{ X, Y, W, H int }
	Targets    []struct {
		Expr, RefID string
		Datasource  struct{ UID string }
	}
}

// dashboard contains the tested fields of a Grafana dashboard.
type dashboard struct {
	UID, Title    string
	SchemaVersion int
	Panels        []panel
	Templating    struct {
		List []struct{ Name, Type, Definition string }
	}
}

func theDashboard(t *testing.T) (d dashboard) {
	t.Helper()
	text := testbed.Read(t, filepath.Join(observability, "gslb-dashboard.json"))
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// The dashboard is valid for Grafana: one data source variable, panels without overlap, unique ids.
func TestDashboard_HasOneDataSourceAndItsRows(t *testing.T) {
	d := theDashboard(t)
	if d.SchemaVersion < 38 || d.UID == "" || d.Title == "" { // 38 is Grafana 10's
		t.Errorf("schema %d, uid %q, title %q", d.SchemaVersion, d.UID, d.Title)
	}
	sources := 0
	for _, v := range d.Templating.List {
		if v.Type == "datasource" {
			sources++
		}
	}
	if sources != 1 {
		t.Errorf("%d data source variables", sources)
	}
	var rows []string
	ids := map[int]bool{}
	for i, p := range d.Panels {
		if ids[p.ID] {
			t.Errorf("%s: its id is another's, too", p.Title)
		}
		ids[p.ID] = true
		if p.GridPos.W < 1 || p.GridPos.H < 1 || p.GridPos.X+p.GridPos.W > 24 {
			t.Errorf("%s does not fit on the grid: %+v", p.Title, p.GridPos)
		}
		for _, other := range d.Panels[:i] {
			a, b := p.GridPos, other.GridPos
			if a.X < b.X+b.W && b.X < a.X+a.W && a.Y < b.Y+b.H && b.Y < a.Y+a.H {
				t.Errorf("%s and %s overlap", p.Title, other.Title)
			}
		}
		if p.Type == "row" {
			rows = append(rows, p.Title)
			continue
		}
		if p.Datasource.UID != "${datasource}" || len(p.Targets) == 0 {
			t.Errorf("%s: data source %q, %d targets", p.Title, p.Datasource.UID, len(p.Targets))
		}
		for _, target := range p.Targets {
			if target.Datasource.UID != "${datasource}" || target.RefID == "" || target.Expr == "" {
				t.Errorf("%s: %+v", p.Title, target)
			}
		}
	}
	want := []string{"Overview", "Traffic", "Answers by outcome", "Backends and domains",
		"Domain $domain", "Agents", "Gossip", "DNSSEC", "Key exchange", "Process"}
	if !slices.Equal(rows, want) {
		t.Errorf("rows %q", rows)
	}
}

// queried is a metric in a PromQL expression.
var queried = regexp.MustCompile(`\b(?:gslb|go|process)_\w+`)

// Dashboard and alert rules use only existing metrics. Metrics that appear with the first event are in the manuals,
// which another test compares.
func TestObservability_AsksForWhatIsServed(t *testing.T) {
	s := testbed.NotifiedSite(t, 1, 1)
	there := map[string]bool{}
	for _, at := range []string{s.Nodes[0].Prom.String(), s.Agents[0].Prom.String()} {
		for _, name := range regexp.MustCompile(`(?m)^# TYPE (\w+) (\w+)`).FindAllStringSubmatch(testbed.Scrape(t, at), -1) {
			there[name[1]] = true
			if name[2] == "histogram" {
				there[name[1]+"_bucket"], there[name[1]+"_sum"], there[name[1]+"_count"] = true, true, true
			}
		}
	}
	manual := testbed.Read(t, "../../agent/README.md")
	for _, name := range regexp.MustCompile("`(gslb_agent_[a-z_]+)").FindAllStringSubmatch(manual, -1) {
		there[name[1]] = true
	}
	used := map[string]bool{}
	check := func(where, expr string) {
		for _, name := range queried.FindAllString(expr, -1) {
			used[name] = true
			if !there[name] && !testbed.AppearsWithEvents(strings.TrimSuffix(name, "_bucket")) {
				t.Errorf("%s asks for %s, which nobody serves", where, name)
			}
		}
	}
	for _, r := range alertRules(t) {
		check(r.Alert, r.Expr)
	}
	d := theDashboard(t)
	for _, p := range d.Panels {
		for _, target := range p.Targets {
			check(p.Title, target.Expr)
		}
	}
	for _, v := range d.Templating.List {
		check("variable "+v.Name, v.Definition)
	}
	if len(used) < 40 {
		t.Errorf("only %d metrics were found in them", len(used))
	}
}

// Each alert has a summary, a severity, and an existing runbook.
func TestAlerts_NameRunbooksThatExist(t *testing.T) {
	text := testbed.Read(t, "../../overwatch/docs/runbooks.md")
	anchors := map[string]bool{}
	for _, heading := range regexp.MustCompile(`(?m)^## (\S+)$`).FindAllStringSubmatch(text, -1) {
		anchors["runbooks.md#"+heading[1]] = true
	}
	named := map[string]bool{}
	for _, r := range alertRules(t) {
		named[r.Annotations["runbook"]] = true
		if !anchors[r.Annotations["runbook"]] {
			t.Errorf("%s: there is no %q", r.Alert, r.Annotations["runbook"])
		}
		if r.Annotations["summary"] == "" || r.Labels["severity"] != "page" && r.Labels["severity"] != "ticket" {
			t.Errorf("%s: summary %q, severity %q", r.Alert, r.Annotations["summary"], r.Labels["severity"])
		}
	}
	for anchor := range anchors {
		if !named[anchor] {
			t.Errorf("no alert leads to %s", anchor)
		}
	}
}

// The dashboard shows the cause of each alert, except alerts about a program that does not run.
func TestAlerts_AreOnTheDashboard(t *testing.T) {
	shown := map[string]bool{}
	for _, p := range theDashboard(t).Panels {
		for _, target := range p.Targets {
			for _, name := range queried.FindAllString(target.Expr, -1) {
				shown[name] = true
			}
		}
	}
	for _, r := range alertRules(t) {
		for _, name := range queried.FindAllString(r.Expr, -1) {
			if !shown[name] {
				t.Errorf("%s: no panel has %s", r.Alert, name)
			}
		}
	}
}

// Each rule has a test in which the alert is first inactive and then fires.
func TestAlerts_EachIsTested(t *testing.T) {
	text := testbed.Read(t, filepath.Join(observability, "gslb-alerts.test.yaml"))
	var tests struct {
		Tests []struct {
			Alerts []struct {
				Name     string `yaml:"alertname"`
				Expected []any  `yaml:"exp_alerts"`
			} `yaml:"alert_rule_test"`
		}
	}
	if err := yaml.Unmarshal([]byte(text), &tests); err != nil {
		t.Fatal(err)
	}
	quiet, told := map[string]bool{}, map[string]bool{}
	for _, test := range tests.Tests {
		for _, a := range test.Alerts {
			quiet[a.Name] = quiet[a.Name] || len(a.Expected) == 0
			told[a.Name] = told[a.Name] || len(a.Expected) > 0
		}
	}
	for _, r := range alertRules(t) {
		if !told[r.Alert] || !quiet[r.Alert] {
			t.Errorf("%s: told in a test: %t, quiet in one: %t", r.Alert, told[r.Alert], quiet[r.Alert])
		}
	}
}

// Prometheus accepts the rules and the dashboard's expressions, and the rules behave over time as their tests specify.
func TestAlerts_ByPromtool(t *testing.T) {
	promtool := testbed.Judge(t, "promtool")
	testbed.Command(t, promtool, "check", "rules", filepath.Join(observability, "gslb-alerts.yaml")).Want(t,
		testbed.ExitOK)
	testbed.Command(t, promtool, "test", "rules", filepath.Join(observability, "gslb-alerts.test.yaml")).Want(t,
		testbed.ExitOK, "SUCCESS")

	variables := strings.NewReplacer("$__rate_interval", "5m", "$instance", ".*")
	var asRules ruleGroups
	for _, p := range theDashboard(t).Panels {
		group := ruleGroup{Name: p.Title}
		for _, target := range p.Targets {
			group.Rules = append(group.Rules, rule{Alert: p.Title + " " + target.RefID, Expr: variables.Replace(target.Expr)})
		}
		if p.Type != "row" {
			asRules.Groups = append(asRules.Groups, group)
		}
	}
	text, err := yaml.Marshal(asRules)
	if err != nil {
		t.Fatal(err)
	}
	testbed.Command(t, promtool, "check", "rules", testbed.File(t, "dashboard.yaml", string(text))).Want(t, testbed.ExitOK)
}
