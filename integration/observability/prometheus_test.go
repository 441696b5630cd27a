package observability_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

// prometheus is a Prometheus that scrapes a site every second and uses our alert rules.
type prometheus struct{ url string }

func startPrometheus(t *testing.T, s *testbed.Site) *prometheus {
	t.Helper()
	program, dir := testbed.Judge(t, "prometheus"), t.TempDir()
	rules, err := filepath.Abs(filepath.Join(observability, "gslb-alerts.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var nodes, agents []string
	for _, n := range s.Nodes {
		nodes = append(nodes, n.Prom.String())
	}
	for _, a := range s.Agents {
		agents = append(agents, a.Prom.String())
	}
	config := fmt.Sprintf("global: {scrape_interval: 1s, evaluation_interval: 1s}\nrule_files: [%q]\nscrape_configs:\n"+
		"- {job_name: gslb-overwatch, static_configs: [{targets: [%q]}]}\n- {job_name: gslb-agent, static_configs: "+
		"[{targets: [%q]}]}\n",
		rules, strings.Join(nodes, `","`), strings.Join(agents, `","`))
	config = strings.ReplaceAll(config, `\"`, `"`)
	at := testbed.UnusedAddress(t)
	cmd := exec.Command(program, "--config.file="+testbed.File(t, "prometheus.yml", config),
		"--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+at)
	var words strings.Builder
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &words, &words, time.Second
	testbed.Start(t, cmd)
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGKILL) // its data goes away with the test
		_ = cmd.Wait()
		if t.Failed() {
			t.Log(words.String())
		}
	})
	return &prometheus{url: "http://" + at}
}

// get sends a request to Prometheus' API, and decodes the data of its answer.
func (p *prometheus) get(ctx context.Context, path string, query url.Values, data any) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, p.url+path+"?"+query.Encode(), nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	answer := struct {
		Status, Error string
		Data          any
	}{Data: data}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		return err
	}
	if answer.Status != "success" {
		return errors.New(answer.Error)
	}
	return nil
}

// series returns the number of series of an expression whose latest value is a number.
func (p *prometheus) series(ctx context.Context, expr string) (int, error) {
	var data struct {
		Result []struct{ Value [2]any }
	}
	err := p.get(ctx, "/api/v1/query", url.Values{"query": {expr}}, &data)
	numbers := slices.DeleteFunc(data.Result, func(r struct{ Value [2]any }) bool { return r.Value[1] == "NaN" })
	return len(numbers), err
}

// alerts returns the states of our rules by name. A rule without a result is an error.
func (p *prometheus) alerts(ctx context.Context) (states map[string]string, err error) {
	var data struct {
		Groups []struct {
			Rules []struct{ Name, State, Health, LastError string }
		}
	}
	if err := p.get(ctx, "/api/v1/rules", nil, &data); err != nil {
		return nil, err
	}
	states = map[string]string{}
	for _, g := range data.Groups {
		for _, r := range g.Rules {
			if states[r.Name] = r.State; r.Health != "ok" {
				return nil, fmt.Errorf("%s: %s %s", r.Name, r.Health, r.LastError)
			}
		}
	}
	return states, nil
}

// A real Prometheus scrapes a real site under a light load. Every expression of the dashboard has data, every alert
// rule has a result and is inactive, and the rules for a stopped node and a stopped agent fire. The test takes most of
// a minute, so it requires GSLB_FULL=1.
func TestDashboard_HasDataAndAlertsNotice(t *testing.T) {
	testbed.OnlyInFull(t)
	t.Parallel()
	s := testbed.NewSite(t, 2, 1)
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(receiver.Close)
	testbed.Notify("webhook", receiver.URL, s.Nodes...)
	for i, n := range s.Nodes {
		n.File.Domains = n.File.Domains[:1] // the other one has no backend, which is told
		n.File.Overwatch.DNSSEC.KeySync = &harness.KeySync{
			Peers: []string{"http://" + s.Nodes[1-i].API.String()}, PollInterval: testbed.SyncPoll, Timeout: 2 * time.Second,
			Secret: "a secret of the nodes, in more than 32 characters",
		}
	}
	s.StartAll(t)
	p := startPrometheus(t, s)
	variables := strings.NewReplacer("$__rate_interval", "20s", "$instance", ".*", "$domain", ".*")
	waiting := map[string]string{} // panels by expression
	filter := regexp.MustCompile(` > [0-9.]+$`)
	for _, panel := range theDashboard(t).Panels {
		for _, target := range panel.Targets {
			// A filter at the end hides normal values.
			waiting[filter.ReplaceAllString(variables.Replace(target.Expr), "")] = panel.Title
		}
	}
	up := true
	testbed.Until(t, testbed.StartBound, "the dashboard to have data", func(ctx context.Context) error {
		// This change causes a publication and new signatures.
		if _, err := s.Nodes[0].Client.SetOverride(ctx, testbed.AppName, s.Backends[0].At.String(),
			api.OverrideRequest{Healthy: &up, Reason: "a change"}); err != nil {
			return err
		}
		up = !up
		for expr, panel := range waiting {
			n, err := p.series(ctx, expr)
			if err != nil {
				return fmt.Errorf("%s: %w; no data for %q", panel, err, waiting)
			}
			if n > 0 {
				delete(waiting, expr)
			}
		}
		if len(waiting) > 0 {
			return fmt.Errorf("no data for %q", waiting)
		}
		return nil
	})
	if err := s.Nodes[0].Client.ClearOverride(t.Context(), testbed.AppName, s.Backends[0].At.String()); err != nil {
		t.Fatal(err)
	}
	testbed.Until(t, testbed.StartBound, "every rule to be evaluated and quiet", func(ctx context.Context) error {
		states, err := p.alerts(ctx)
		if err != nil {
			return err
		}
		if len(states) != len(alertRules(t)) {
			return fmt.Errorf("%d rules", len(states))
		}
		for name, state := range states {
			if state != "inactive" {
				return fmt.Errorf("%s is %s", name, state)
			}
		}
		return nil
	})
	for _, u := range []*harness.Unit{s.Agents[0].Unit, s.Nodes[1].Unit} {
		testbed.Kill(t, u)
	}
	for _, name := range []string{"GslbOverwatchDown", "GslbAgentDown", "GslbAgentsLost"} {
		testbed.Until(t, testbed.StartBound, name+" to notice", func(ctx context.Context) error {
			states, err := p.alerts(ctx)
			if err == nil && states[name] == "inactive" {
				err = errors.New("it is inactive")
			}
			return err
		})
	}
}
