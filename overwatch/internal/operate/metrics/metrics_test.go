package metrics // inside: it uses collect

import (
	"context"
	"fmt"
	"io"
	"iter"
	"maps"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"
	"unique"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/answer/decisions"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/health/trust"
	"gslb.internal/overwatch/internal/operate/conditions"
	"gslb.internal/overwatch/internal/policy"
	"gslb.internal/shared/api"
	"gslb.internal/shared/buildinfo"
	"gslb.internal/shared/check"
)

type fitness struct{}

func (fitness) Readiness() api.Readiness  { return api.Readiness{Ready: true} }
func (fitness) Status() api.ServiceStatus { return api.ServiceDegraded }
func (fitness) NamesDown() int            { return 1 }
func (fitness) Holding() map[api.ConditionKind]int {
	return map[api.ConditionKind]int{api.NodeUnheard: 2}
}

// sources returns the sources for a healthy and an unhealthy backend, and for three agents.
func sources(t *testing.T) Sources {
	t.Helper()
	r, err := registry.New(registry.Options{
		Timing: registry.Timing{StaleThreshold: time.Hour, RemoveAfter: time.Hour, ValidationEnabled: true,
			ValidationInterval: time.Hour},
		Changed: func(string) {}, Logger: zerolog.Nop(),
	})
	must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		must(t, <-ended)
	})
	var declarations []registry.Declaration
	for _, text := range []string{"a.example:192.0.2.1:80", "a.example:192.0.2.2:80", "c.example:192.0.2.3:80"} {
		id, err := registry.ParseID(text)
		must(t, err)
		declarations = append(declarations, registry.Declaration{ID: id, Weight: 1, Region: "eu",
			Check: unique.Make(check.Spec{Type: check.TCP})})
	}
	must(t, r.SetStaticDeclarations(t.Context(), declarations))
	must(t, r.ApplyCheckResult(t.Context(), registry.CheckResult{ID: declarations[0].ID, State: check.StateHealthy,
		Outcome: check.Success, At: time.Now()}))
	must(t, r.SetAdminState(t.Context(), registry.AdminState{Kind: api.OrderOverride, Service: "a.example",
		Address: netip.MustParseAddr("192.0.2.2"),
		Reason:  "r"}))
	return Sources{
		View: r.View(), PerDomain: perDomain(10), Fitness: fitness{},
		ClusterName: func() string { return "emea" },
		Agents: func(time.Duration) trust.Counts {
			return trust.Counts{Valid: 2, Revoked: 1, Expiring: 1, Outdated: 1}
		},
		Pins: func() []trust.Use {
			return []trust.Use{{Service: "a.example", Pins: 3, Limit: 1024, Unreported: 1},
				{Service: "b.example", Limit: 5, Locked: true}}
		},
		ClockJump: func() time.Duration { return 90 * time.Second },
		Build:     buildinfo.Info{Version: "1.2.3", GoVersion: "go1.26", GitCommit: "abc"},
	}
}

// perDomain returns the sources of two domains and their answers, with metrics.per_domain at limit.
func perDomain(limit int) DomainSources {
	return DomainSources{
		Domains: func() []conditions.Domain {
			return []conditions.Domain{{Name: "a.example", MinHealthy: policy.Minimum{Count: 2}}, {Name: "b.sub.example"}}
		},
		Zones: func() []string { return []string{"example", "sub.example"} },
		Answers: func() iter.Seq2[decisions.AnswerKey, uint64] {
			return maps.All(map[decisions.AnswerKey]uint64{
				{Domain: "a.example", Region: "eu", Outcome: policy.Success}:    3,
				{Domain: "gone.example", Region: "eu", Outcome: policy.Success}: 4,
				{Domain: "gone.test", Outcome: policy.NoHealthyBackend}:         5,
			})
		},
		Limit: func() int { return limit },
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// want lists every metric of a node with these sources.
const want = `
gslb_build_info{git_commit="abc",go_version="go1.26",version="1.2.3"} 1
gslb_dnssec_enabled 0
gslb_overwatch_agents_active 0
gslb_overwatch_agents_expiring 1
gslb_overwatch_agents_previous_token 1
gslb_overwatch_agents_registered 2
gslb_overwatch_agents_revoked 1
gslb_overwatch_backends{status="healthy"} 1
gslb_overwatch_backends{status="stale"} 0
gslb_overwatch_backends{status="unhealthy"} 2
gslb_overwatch_backends_draining 0
gslb_overwatch_backends_healthy 1
gslb_overwatch_clock_jump_seconds 90
gslb_overwatch_backends_held 0
gslb_overwatch_brakes{concern="unhealthy"} 0
gslb_overwatch_brakes{concern="warning"} 0
gslb_overwatch_cluster_info{cluster_name="emea"} 1
gslb_overwatch_disagreements 0
gslb_backend_share{backend="192.0.2.1:80",domain="a.example",region="eu"} 1
gslb_backend_share{backend="192.0.2.2:80",domain="a.example",region="eu"} 0
gslb_backend_status{backend="192.0.2.1:80",domain="a.example",region="eu"} 1
gslb_backend_status{backend="192.0.2.2:80",domain="a.example",region="eu"} 0
gslb_backend_transitions_total{backend="192.0.2.1:80",domain="a.example",region="eu"} 1
gslb_backend_transitions_total{backend="192.0.2.2:80",domain="a.example",region="eu"} 0
gslb_domain_answers_total{domain="a.example",outcome="success",region="eu"} 3
gslb_domain_required{domain="a.example"} 2
gslb_domain_required{domain="b.sub.example"} 1
gslb_domain_serving{domain="a.example"} 1
gslb_domain_serving{domain="b.sub.example"} 0
gslb_overwatch_domains 2
gslb_overwatch_domains_limit 10
gslb_overwatch_domains_down 1
gslb_overwatch_overrides 1
gslb_overwatch_ready 1
gslb_overwatch_service_locked{service="a.example"} 0
gslb_overwatch_service_locked{service="b.example"} 1
gslb_overwatch_service_pins{service="a.example"} 3
gslb_overwatch_service_pins{service="b.example"} 0
gslb_overwatch_service_pins_limit{service="a.example"} 1024
gslb_overwatch_service_pins_limit{service="b.example"} 5
gslb_overwatch_service_pins_unreported{service="a.example"} 1
gslb_overwatch_service_pins_unreported{service="b.example"} 0
gslb_overwatch_stale_agents 0
gslb_overwatch_status{status="degraded"} 1
gslb_overwatch_status{status="healthy"} 0
gslb_overwatch_status{status="unhealthy"} 0
gslb_overwatch_validation_suspended 0
`

func TestServer_ScrapeShowsTheOwnersAndTheProcess(t *testing.T) {
	r := prometheus.NewRegistry()
	must(t, Register(r, sources(t)))
	s, err := New(Options{Address: "127.0.0.1:0", Gatherer: r, Logger: zerolog.Nop()})
	must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	defer func() {
		cancel()
		must(t, <-ended)
	}()
	status, body := get(t, "http://"+s.Addr().String()+"/metrics")
	if status != http.StatusOK {
		t.Fatalf("status %d", status)
	}
	want := want
	for _, kind := range api.ConditionTypes() { // inactive conditions have samples, as do active conditions
		want += fmt.Sprintf("gslb_overwatch_conditions{kind=%q} %d\n", kind.Kind, fitness{}.Holding()[kind.Kind])
	}
	for line := range strings.Lines(strings.TrimSpace(want)) {
		if !strings.Contains(body, strings.TrimSpace(line)+"\n") {
			t.Errorf("no line %s", line)
		}
	}
	for line := range strings.Lines(body) {
		if strings.HasPrefix(line, "gslb_") && !strings.Contains(want, line) {
			t.Errorf("unexpected line %s", line)
		}
	}
	for _, name := range []string{"go_goroutines ", "process_open_fds "} {
		if !strings.Contains(body, "\n"+name) {
			t.Errorf("no %s", name)
		}
	}
	for _, path := range []string{"/", "/metrics/", "/debug/pprof/"} {
		if status, _ := get(t, "http://"+s.Addr().String()+path); status != http.StatusNotFound {
			t.Errorf("%s: %d", path, status)
		}
	}
}

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	client := http.Client{Timeout: 10 * time.Second}
	defer client.CloseIdleConnections()
	res, err := client.Get(url)
	must(t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	must(t, err)
	return res.StatusCode, string(body)
}

func TestRegister_MetricsFollowTheConventions(t *testing.T) {
	r := prometheus.NewRegistry()
	must(t, r.Register(collector(sources(t).collect)))
	problems, err := testutil.GatherAndLint(r)
	must(t, err)
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

func TestRegister_NeedsEverySource(t *testing.T) {
	if err := Register(prometheus.NewRegistry(), Sources{}); err == nil {
		t.Error("accepted")
	}
}

func TestNew_NamesTheKeyOfAnAddressThatCannotBeHad(t *testing.T) {
	if _, err := New(Options{Address: "192.0.2.1:1", Gatherer: prometheus.NewRegistry()}); err == nil ||
		!strings.Contains(err.Error(), "metrics.address: listening on 192.0.2.1:1") {
		t.Errorf("got %v", err)
	}
}
