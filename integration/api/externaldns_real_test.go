package api_test

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"flag"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"gslb.internal/integration/harness/testbed"
)

// gobEndpoint contains the fields of ExternalDNS' endpoint.Endpoint, in the format of its source "connector".
type gobEndpoint struct {
	DNSName, RecordType, SetIdentifier string
	Targets                            []string
	RecordTTL                          int64
	Labels                             map[string]string
	ProviderSpecific                   []gobProperty
}

type gobProperty struct{ Name, Value string }

// realCluster is a cluster without Kubernetes: an ExternalDNS, its endpoints, and the provider.
type realCluster struct {
	owner    string
	registry []string
	provider string // URL
	steps    [][]gobEndpoint

	mu       sync.Mutex
	recorded []exchanged
}

func address(kind string, targets ...string) gobEndpoint {
	return gobEndpoint{DNSName: clustersName, RecordType: kind, Targets: targets, RecordTTL: 60,
		Labels: map[string]string{"resource": "ingress/default/app"}}
}

var (
	externalDNS = flag.String("external-dns", "", "version of the real ExternalDNS to build and run")
	update      = flag.Bool("update", false, "record the exchange with the real ExternalDNS")
)

// The real ExternalDNS runs for two clusters concurrently, with servers of one name. -external-dns is its version,
// which is built first. With -update its requests become the recording; otherwise they are compared with the recording.
func TestExternalDNS_RealProgramOfTwoClusters(t *testing.T) {
	version := *externalDNS
	if version == "" {
		t.Skip("-external-dns=v0.21.0 builds and runs it, as make test-long does")
	}
	bin := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "install", "-ldflags=-s -w", "sigs.k8s.io/external-dns@"+version)
	build.Env = append(os.Environ(), "GOBIN="+bin, "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	n := documentNode(t)
	there := address("A", "198.51.100.1")
	there.ProviderSpecific = []gobProperty{{"webhook/gslb-region", "us"}}
	name := address("CNAME", "lb.cloud.example")
	name.DNSName = "cloud.test.gslb.test"
	start := []gobEndpoint{address("A", "192.0.2.1", "192.0.2.2"), address("AAAA", "2001:db8::1"), name}
	eu := &realCluster{owner: euOwner, provider: startProvider(t, n, euOwner, ""), registry: []string{"--registry=noop"},
		steps: [][]gobEndpoint{start, start, {address("A", "192.0.2.1", "192.0.2.3")}, {}, {}}}
	us := &realCluster{owner: usOwner, provider: startProvider(t, n, usOwner, ""),
		registry: []string{"--registry=txt", "--txt-owner-id=" + usOwner},
		steps:    [][]gobEndpoint{{there}, {there}, {there}, {there}, {}}}
	var steps [][]exchanged
	for i, want := range afterSteps {
		var both sync.WaitGroup
		for _, c := range []*realCluster{eu, us} {
			both.Go(func() { c.once(t, filepath.Join(bin, "external-dns"), c.steps[i]) })
		}
		both.Wait()
		if t.Failed() {
			t.FailNow()
		}
		haveServers(t, n, want, len(want) > 0)
		steps = append(steps, slices.Concat(eu.recorded, us.recorded))
		eu.recorded, us.recorded = nil, nil
	}
	text, err := json.MarshalIndent(steps, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(recording, append(text, '\n'), 0o644); err != nil { //nolint:gosec // as the others there
			t.Fatal(err)
		}
	}
	before, err := os.ReadFile(recording)
	var was [][]exchanged
	if err != nil || json.Unmarshal(before, &was) != nil {
		t.Fatal(err)
	}
	if is, was := outline(steps), outline(was); !slices.Equal(is, was) {
		t.Errorf("it asked\n%q\nrecorded is\n%q", is, was)
	}
}

// outline lists the requests of all steps: owner, request, content type and status. It omits the bodies, because
// ExternalDNS determines their order.
func outline(steps [][]exchanged) (list []string) {
	for _, step := range steps {
		for _, e := range step {
			list = append(list, e.Owner+" "+e.Request+" "+e.ContentType+http.StatusText(e.Status))
		}
	}
	return list
}

// once runs ExternalDNS for one round.
func (c *realCluster) once(t *testing.T, program string, found []gobEndpoint) {
	var config net.ListenConfig
	source, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Error(err)
		return
	}
	defer source.Close()
	go func() {
		for {
			conn, err := source.Accept()
			if err != nil {
				return
			}
			_ = gob.NewEncoder(conn).Encode(found)
			conn.Close()
		}
	}()
	between := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { c.pass(t, w, r) }))
	defer between.Close()
	cmd := exec.CommandContext(t.Context(), program, append([]string{"--once", "--source=connector",
		"--connector-source-server=" + source.Addr().String(), "--provider=webhook", "--webhook-provider-url=" + between.URL,
		"--metrics-address=127.0.0.1:0", "--log-level=debug"}, c.registry...)...)
	cmd.Env = []string{testbed.RunMark + "=" + os.Getenv(testbed.RunMark), "HOME=" + t.TempDir()}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("external-dns of %s: %v\n%s", c.owner, err, out)
	}
}

// pass forwards a request to the provider and records the result.
func (c *realCluster) pass(t *testing.T, w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Error(err)
		return
	}
	e := repeat(t, c.provider, exchanged{Owner: c.owner, Request: r.Method + " " + r.URL.Path,
		ContentType: r.Header.Get("Content-Type"), Accept: r.Header.Get("Accept"), Body: bytes.TrimSpace(body)})
	if e.Status == http.StatusOK {
		w.Header().Set("Content-Type", "application/external.dns.webhook+json;version=1")
	}
	w.WriteHeader(e.Status)
	_, _ = w.Write(e.Answer)
	e.Answer = bytes.TrimSpace(e.Answer)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.recorded = append(c.recorded, e)
}
