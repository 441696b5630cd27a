package overwatch // inside: it uses newNode and node

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"
	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/answer/zone"
	"gslb.internal/overwatch/internal/control"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/shared/check"
	"gslb.internal/shared/logging"
	"gslb.internal/shared/model"
)

// record is a log with concurrent reads and writes.
type record struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (r *record) Write(line []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(line)
}

func (r *record) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}

// withoutBackend returns, for each publication of all names in the log, the number of names without a backend to answer
// with.
func (r *record) withoutBackend(t *testing.T) (counts []int) {
	t.Helper()
	for line := range strings.Lines(r.String()) {
		var said struct {
			Message        string
			WithoutBackend *int `json:"without_backend"`
		}
		if err := json.Unmarshal([]byte(line), &said); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if said.WithoutBackend != nil {
			counts = append(counts, *said.WithoutBackend)
		}
	}
	return counts
}

// namesWithServers writes a configuration with a server for each name, on an open port.
func namesWithServers(t *testing.T, path string, validation bool, port string, names ...string) {
	t.Helper()
	text := fmt.Sprintf(`
mode: overwatch
data_dir: %q
overwatch:
  identity: {node_id: ns1, region: eu}
  gossip: {bind_address: "127.0.0.1:0", encryption_key: %q}
  validation: {enabled: %v}
dns: {listen_address: "127.0.0.1:0", zones: [gslb.test]}
regions:
- name: eu
  servers:
  - {address: 127.0.0.1, port: %s}
domains:
`, filepath.Join(filepath.Dir(path), "data"), base64.StdEncoding.EncodeToString(make([]byte, 32)), validation, port)
	for _, name := range names {
		text += fmt.Sprintf("- {name: %s, routing_algorithm: weighted, regions: [eu]}\n", name)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// openPort returns a loopback port that accepts connections until the test ends.
func openPort(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	return port
}

// running starts a node that runs until the test ends, and returns it with its log.
func running(t *testing.T, path string) (*node, *record) {
	t.Helper()
	cfg, err := control.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	_, level, err := logging.Adjustable(cfg.Logging, t.Output())
	if err != nil {
		t.Fatal(err)
	}
	log := new(record)
	n, err := newNode(context.Background(), cfg, path, zerolog.New(log), level)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- n.run(ctx, nil) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		n.close()
	})
	return n, log
}

// A name that is added by a reload or through the API has its servers in its first answer.
func TestReload_NamesComeWithTheirServers(t *testing.T) {
	port := openPort(t)
	path := filepath.Join(t.TempDir(), "overwatch.yaml")
	namesWithServers(t, path, false, port, "a.gslb.test")
	n, log := running(t, path)
	namesWithServers(t, path, false, port, "a.gslb.test", "b.gslb.test", "c.gslb.test")
	if _, _, err := n.control.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if text := log.String(); !strings.Contains(text, `"changed":["domains"],"message":"configuration reloaded"`) {
		t.Errorf("the log does not say what the reload changed:\n%s", text)
	}
	if counts := log.withoutBackend(t); len(counts) != 2 || counts[1] != 0 {
		t.Errorf("names without a backend at the start and in the reload: %v", counts)
	}
	errs, _ := together(t, n, func(d *definitions.Draft) error {
		d.Put(newDomain("d.gslb.test", "eu"))
		return nil
	})
	if errs[0] != nil {
		t.Fatal(errs[0])
	}
	if err := n.publisher.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if text := log.String(); strings.Contains(text, "backends serve again") {
		t.Errorf("a name of the API began without its servers:\n%s", text)
	}
}

// If the node checks the servers, the reload waits up to a second for the first checks. A stalled machine, or a machine
// without a free local port, may need longer, so it is sufficient that one of several attempts succeeds.
func TestReload_NamesComeWithServersThatWereChecked(t *testing.T) {
	port := openPort(t)
	path := filepath.Join(t.TempDir(), "overwatch.yaml")
	names := []string{}
	namesWithServers(t, path, true, port)
	n, log := running(t, path)
	tick := time.NewTicker(time.Second) // the machine may need time for a free port
	defer tick.Stop()
	for attempt := range 20 {
		names = append(names, fmt.Sprintf("n%d.gslb.test", attempt))
		namesWithServers(t, path, true, port, names...)
		if _, _, err := n.control.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
		if counts := log.withoutBackend(t); counts[len(counts)-1] == 0 {
			return
		}
		<-tick.C
	}
	t.Errorf("names without a backend: %v", log.withoutBackend(t))
}

// A reload that moves a name to another region, or its region to other servers, never leaves the name without a
// backend, even if the health checks of the new servers are slow.
func TestReload_ANameThatMovesHasServersAllTheTime(t *testing.T) {
	slow := func() string {
		server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter,
			*http.Request) {
			time.Sleep(100 * time.Millisecond) // real: the response time of the backend
		}))
		t.Cleanup(server.Close)
		_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
		return port
	}
	first, second, third := slow(), slow(), slow()
	path := filepath.Join(t.TempDir(), "overwatch.yaml")
	configure := func(region, routing string, servers map[string]string) {
		text := fmt.Sprintf(`
mode: overwatch
data_dir: %q
overwatch:
  identity: {node_id: ns1, region: eu}
  gossip: {bind_address: "127.0.0.1:0", encryption_key: %q}
  validation: {check_interval: 10m, check_timeout: 1m} # as long as a slow machine may take
dns: {listen_address: "127.0.0.1:0", zones: [gslb.test]}
domains:
- {name: app.gslb.test, routing_algorithm: %s, regions: [%s], min_healthy: 100%%}
regions:
`, filepath.Join(filepath.Dir(path), "data"), base64.StdEncoding.EncodeToString(make([]byte, 32)), routing, region)
		for _, name := range slices.Sorted(maps.Keys(servers)) {
			text += fmt.Sprintf(
				"- {name: %s, health_check: {type: http, path: /, interval: 10m, timeout: 1m}, servers: [{address: 127.0.0.1, "+
					"port: %s}]}\n", name, servers[name])
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	configure("a", "failover", map[string]string{"a": first})
	n, log := running(t, path)
	healthyAre := func(ports ...string) func() bool {
		return func() bool {
			var serve []string
			for _, b := range n.registry.View().Service("app.gslb.test") {
				if !b.MayServe {
					return false
				}
				serve = append(serve, fmt.Sprint(b.Port))
			}
			slices.Sort(serve)
			slices.Sort(ports)
			return slices.Equal(serve, ports)
		}
	}
	eventually(t, healthyAre(first))
	if err := n.publisher.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	seen := len(log.String())
	for _, step := range []struct {
		region, routing string
		servers         map[string]string
		want            string
	}{
		{"b", "failover", map[string]string{"a": first, "b": second}, second},
		{"b", "geolocation", map[string]string{"a": first, "b": third}, third},
		{"a", "weighted", map[string]string{"a": third, "b": second}, third},
		{"c", "weighted", map[string]string{"c": first}, first},
	} {
		configure(step.region, step.routing, step.servers)
		if _, _, err := n.control.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
		eventually(t, healthyAre(step.want))
		if err := n.publisher.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if text := log.String()[seen:]; strings.Contains(text, "answering SERVFAIL") ||
		strings.Contains(text, `"without_backend":1`) {
		t.Errorf("the name had nobody to answer for it:\n%s", text)
	}
}

func eventually(t *testing.T, done func() bool) {
	t.Helper()
	// The checks of the node use real sockets, so the test polls the state.
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(2 * time.Minute); !done(); <-tick.C {
		if time.Now().After(deadline) {
			t.Fatal("it does not happen")
		}
	}
}

// A server that the API adds is not included in the percentage of min_healthy until its first check result. The answer
// of the name stays the same.
func TestServers_OneThatComesTakesNoNameToItsLastResort(t *testing.T) {
	port := openPort(t)
	path := filepath.Join(t.TempDir(), "overwatch.yaml")
	namesWithServers(t, path, true, port)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text = append(text, "- {name: a.gslb.test, routing_algorithm: weighted, regions: [eu], min_healthy: 100%}\n"...)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	n, _ := running(t, path)
	answered := func() zone.Kind {
		if err := n.publisher.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		return n.publisher.View().Resolve("a.gslb.test.", dns.TypeA, false, netip.Addr{}, zone.NewRotations(1, 1)).Kind
	}
	eventually(t, func() bool { return answered() == zone.Positive })
	// no server listens at this address
	id := registry.ID{Service: "a.gslb.test", Address: netip.MustParseAddr("127.0.0.1"), Port: 1}
	// a check without a result
	never := check.Spec{Type: check.TCP, Interval: time.Hour, Timeout: time.Minute, FailureThreshold: 100,
		SuccessThreshold: 1}
	if err := applyServers(t.Context(), n, []model.Server{{Service: id.Service, Address: id.Address, Port: id.Port,
		Weight: 1, Region: "eu", HealthCheck: model.HealthCheckOf(never)}}); err != nil {
		t.Fatal(err)
	}
	if kind := answered(); kind != zone.Positive {
		t.Errorf("with a server of which nothing is known: %v", kind)
	}
	if err := n.registry.ApplyCheckResult(t.Context(), registry.CheckResult{ID: id, Outcome: check.Failure,
		State: check.StateUnhealthy}); err != nil {
		t.Fatal(err)
	}
	if kind := answered(); kind == zone.Positive {
		t.Error("with a server that was found unhealthy it is answered as if all were healthy")
	}
}
