package agent // inside: it uses certificateFile and keyFile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"gslb.internal/shared/logging/logtest"
	"gslb.internal/shared/settings"
)

// site contains the environment of one agent under test: its backend, data directory, metrics address and configuration
// file.
type site struct {
	backend *httptest.Server
	dataDir string
	metrics string
	config  string
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{dataDir: filepath.Join(t.TempDir(), "data"), metrics: freeAddress(t)}
	s.backend = httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(s.backend.Close)
	s.config = filepath.Join(t.TempDir(), "agent.yaml")
	s.write(t, "")
	return s
}

// write writes the configuration, with additional lines at its end.
func (s *site) write(t *testing.T, more string) {
	t.Helper()
	host, port, err := net.SplitHostPort(s.backend.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf(`mode: agent
data_dir: %s
agent:
  identity: {service_token: "0123456789abcdef0123456789abcdef", region: eu}
  backends:
    - {service: app.example.org, address: %s, port: %s, weight: 100,
       health_check: {type: http, path: /, interval: 100ms, timeout: 100ms}}
  gossip:
    encryption_key: "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
    overwatch_nodes: ["127.0.0.1:9"]
  drain_time: 0s
metrics: {enabled: true, address: %q}
%s`, s.dataDir, host, port, s.metrics, more)
	if err := os.WriteFile(s.config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// freeAddress returns an unused address of this host. Linux assigns its port to no other process automatically, because
// the agent binds the port later, and again after a restart.
func freeAddress(t *testing.T) string {
	t.Helper()
	for range 100 {
		listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", 15000+rand.IntN(17000)))
		if err != nil {
			continue // the port is in use
		}
		defer listener.Close()
		return listener.Addr().String()
	}
	t.Fatal("no port is free")
	return ""
}

// running is an agent under test.
type running struct {
	stop  context.CancelFunc
	ended chan error
	log   *logtest.Buffer
}

func (s *site) start(t *testing.T) *running {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r := &running{stop: cancel, ended: make(chan error, 1), log: &logtest.Buffer{}}
	go func() { r.ended <- Run(ctx, Options{ConfigPath: s.config, Log: r.log}) }()
	return r
}

// end stops the agent and returns what Run returned.
func (r *running) end(t *testing.T) error {
	t.Helper()
	r.stop()
	return r.wait(t)
}

func (r *running) wait(t *testing.T) error {
	t.Helper()
	select {
	case err := <-r.ended:
		return err
	case <-time.After(30 * time.Second):
		t.Fatal("the agent did not end within 30 s")
		return nil
	}
}

// scrape returns the metrics when they contain want.
func (s *site) scrape(t *testing.T, want string) string {
	t.Helper()
	text := ""
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); {
		res, err := http.Get("http://" + s.metrics + "/metrics")
		if err != nil {
			continue
		}
		body, _ := io.ReadAll(res.Body)
		res.Body.Close()
		if text = string(body); strings.Contains(text, want) {
			return text
		}
	}
	t.Fatalf("the metrics never had %q:\n%s", want, text)
	return ""
}

func TestRun_ChecksItsBackendsAndStopsWhenAsked(t *testing.T) {
	s := newSite(t)
	r := s.start(t)
	text := s.scrape(t, `gslb_agent_backend_healthy{address="127.0.0.1"`)
	for _, want := range []string{"gslb_agent_backends_registered 0", "gslb_agent_certificate_expiry_days 36",
		"gslb_build_info{"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if err := r.end(t); err != nil {
		t.Error(err)
	}
	if !strings.Contains(r.log.String(), "agent stopped") {
		t.Errorf("log:\n%s", r.log)
	}
}

func TestRun_KeepsItsIdentity(t *testing.T) {
	s := newSite(t)
	identities := map[string]bool{}
	for range 2 {
		r := s.start(t)
		s.scrape(t, "gslb_build_info")
		if err := r.end(t); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(s.dataDir, certificateFile))
		if err != nil {
			t.Fatal(err)
		}
		identities[string(text)] = true
	}
	if len(identities) != 1 {
		t.Error("the second start made another certificate")
	}
	if err := os.Remove(filepath.Join(s.dataDir, keyFile)); err != nil {
		t.Fatal(err)
	}
	if err := s.start(t).wait(t); err == nil || !strings.Contains(err.Error(), keyFile) {
		t.Errorf("without its key: %v", err)
	}
}

func TestRun_AnotherIDThanTheCertificatesIsRefused(t *testing.T) {
	s := newSite(t)
	r := s.start(t)
	s.scrape(t, "gslb_build_info")
	if err := r.end(t); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(s.config)
	if err != nil {
		t.Fatal(err)
	}
	renamed := strings.Replace(string(text), "region: eu", "region: eu, agent_id: other", 1)
	if err := os.WriteFile(s.config, []byte(renamed), 0o600); err != nil {
		t.Fatal(err)
	}
	err = s.start(t).wait(t)
	if err == nil || !strings.Contains(err.Error(), "agent_id is other, but "+filepath.Join(s.dataDir, certificateFile)) ||
		!strings.Contains(err.Error(), "set agent_id back") {
		t.Errorf("%v", err)
	}
}

func TestReload_BackendsAndChecksFollowTheFileAndAWrongOneChangesNothing(t *testing.T) {
	s := newSite(t)
	r := s.start(t)
	s.scrape(t, `gslb_agent_backend_healthy{address="127.0.0.1"`)
	hup := func() {
		if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
	}
	right, err := os.ReadFile(s.config)
	if err != nil {
		t.Fatal(err)
	}
	s.write(t, "no_such_key: 1\n")
	hup()
	s.scrape(t, `gslb_agent_reloads_total{outcome="failure"} 1`)
	if text := r.log.String(); !strings.Contains(text, "the reload failed") || !strings.Contains(text, "no_such_key") {
		t.Errorf("log:\n%s", text)
	}
	more := "backends:\n    - {service: other.example.org, address: 127.0.0.2, port: 9, health_check: {type: tcp, " +
		"interval: 100ms, timeout: 100ms}}"
	changed := strings.Replace(strings.Replace(string(right), "backends:", more, 1), "drain_time: 0s", "drain_time: 1s", 1)
	changed = strings.Replace(changed, `["127.0.0.1:9"]`, `["127.0.0.1:10"]`, 1)
	if err := os.WriteFile(s.config, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	hup()
	s.scrape(t, `gslb_agent_backend_healthy{address="127.0.0.2",port="9",service="other.example.org"} 0`)
	s.scrape(t, `gslb_agent_overwatch_connected{node="127.0.0.1:10"} 0`)
	if text := s.scrape(t, `gslb_agent_reloads_total{outcome="success"} 1`); !strings.Contains(text,
		`gslb_agent_backend_healthy{address="127.0.0.1"`) {
		t.Error("the backend that stayed is not shown any more")
	}
	if text := r.log.String(); !strings.Contains(text, "configuration reloaded") || !strings.Contains(text, `"added":1`) ||
		!strings.Contains(text, "agent.drain_time") || strings.Contains(text, "overwatch_nodes") {
		t.Errorf("log:\n%s", text)
	}
	if err := r.end(t); err != nil {
		t.Error(err)
	}
}

func TestRun_SecondAgentOnTheSameDataDirIsRefused(t *testing.T) {
	s := newSite(t)
	first := s.start(t)
	s.scrape(t, "gslb_build_info")
	if err := s.start(t).wait(t); err == nil || !strings.Contains(err.Error(), "is in use by another agent") {
		t.Errorf("%v", err)
	}
	if err := Validate(s.config); err != nil {
		t.Errorf("the configuration of a running agent is valid, yet: %v", err)
	}
	if err := first.end(t); err != nil {
		t.Error(err)
	}
}

func TestRun_PortInUseIsNamed(t *testing.T) {
	s := newSite(t)
	taken, err := net.Listen("tcp", s.metrics)
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	if err := s.start(t).wait(t); err == nil || !strings.Contains(err.Error(), "metrics.address "+s.metrics) {
		t.Errorf("Run: %v", err)
	}
	problems, ok := errors.AsType[settings.Problems](Validate(s.config))
	if !ok || len(problems) != 1 || problems[0].Key != "metrics.address" || problems[0].Value != s.metrics {
		t.Errorf("Validate: %v", problems)
	}
}

func TestValidate_ChangesNothing(t *testing.T) {
	s := newSite(t)
	if err := Validate(s.config); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(s.dataDir); !os.IsNotExist(err) {
		t.Error("the data directory was made")
	}
	s.write(t, "nonsense: 1\n")
	if problems, ok := errors.AsType[settings.Problems](Validate(s.config)); !ok || problems[0].Key != "nonsense" {
		t.Errorf("%v", problems)
	}
	if err := s.start(t).wait(t); err == nil {
		t.Error("an agent with a wrong configuration runs")
	}
}
