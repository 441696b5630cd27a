package api_test

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/miekg/dns"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

// exchanged is a request of ExternalDNS and the answer of gslbctl external-dns.
type exchanged struct {
	Owner       string          `json:"owner"`
	Request     string          `json:"request"`
	ContentType string          `json:"content_type,omitempty"`
	Accept      string          `json:"accept,omitempty"`
	Body        json.RawMessage `json:"body,omitempty"`
	Status      int             `json:"status"`
	Answer      json.RawMessage `json:"answer,omitempty"`
}

// recording is the content of the file that externaldns_real_test.go writes: the exchanges of each step.
const recording = "testdata/external-dns.json"

const (
	clustersName = "app.test.gslb.test"
	euOwner      = "eu-1"
	usOwner      = "us-1"
)

// afterSteps contains the servers of the name after each step of the recording, with their owners.
var afterSteps = [][]string{
	{"eu-1 192.0.2.1 eu", "eu-1 192.0.2.2 eu", "eu-1 2001:db8::1 eu", "eu-1 lb.cloud.example eu",
		"us-1 198.51.100.1 us"},
	{"eu-1 192.0.2.1 eu", "eu-1 192.0.2.2 eu", "eu-1 2001:db8::1 eu", "eu-1 lb.cloud.example eu",
		"us-1 198.51.100.1 us"},
	{"eu-1 192.0.2.1 eu", "eu-1 192.0.2.3 eu", "us-1 198.51.100.1 us"},
	{"us-1 198.51.100.1 us"},
	nil,
}

// The recorded requests of a real ExternalDNS for two clusters are repeated: each cluster receives the recorded
// answers, and has only its own servers of the name.
func TestExternalDNS_TwoClustersShareANameAndOneGoes(t *testing.T) {
	t.Parallel()
	text := testbed.Read(t, recording)
	var steps [][]exchanged
	if err := json.Unmarshal([]byte(text), &steps); err != nil || len(steps) != len(afterSteps) {
		t.Fatalf("%d steps, %v", len(steps), err)
	}
	n := documentNode(t)
	at := map[string]string{euOwner: startProvider(t, n, euOwner, ""), usOwner: startProvider(t, n, usOwner, "")}
	repeatSteps(t, n, at, steps)
	haveServers(t, n, afterSteps[len(steps)-1], false)
}

// The same requests succeed with a token for each cluster that is limited to the owner and the zone. Only the cluster
// that has created the name can delete it.
func TestExternalDNS_TokensLimitedToTheirOwners(t *testing.T) {
	t.Parallel()
	var steps [][]exchanged
	if err := json.Unmarshal([]byte(testbed.Read(t, recording)), &steps); err != nil {
		t.Fatal(err)
	}
	admin := strings.Repeat("a1", 20)
	n := documentNodeWith(t, map[string]any{"tokens": map[string]any{"admin": map[string]string{"root": admin}}})
	client := func(token string) *api.Client {
		c, err := api.NewClient(api.ClientOptions{Node: "http://" + n.API.String(), Timeout: apiBound, Token: token})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	n.Client = client(admin)
	secrets, at := map[string]string{}, map[string]string{}
	for _, owner := range []string{euOwner, usOwner} {
		made, err := n.Client.CreateToken(t.Context(), api.TokenChange{"name": owner, "role": "admin",
			"scope": map[string]any{"zones": []string{"test.gslb.test"}, "kinds": []string{"domain", "server"},
				"owners": []string{owner}}})
		if err != nil {
			t.Fatal(err)
		}
		secrets[owner], at[owner] = made.Secret, startProvider(t, n, owner, made.Secret)
	}
	repeatSteps(t, n, at, steps[:len(steps)-1])
	for _, e := range steps[len(steps)-1] {
		if got := repeat(t, at[e.Owner], e); got.Status != e.Status {
			t.Fatalf("%s %s: %d %s, recorded is %d", e.Owner, e.Request, got.Status, got.Answer, e.Status)
		}
	}
	haveServers(t, n, nil, true)
	err := client(secrets[usOwner]).DeleteDomain(t.Context(), clustersName)
	if refused, is := errors.AsType[*api.Error](err); !is || refused.Status != http.StatusForbidden {
		t.Errorf("the token of %s deletes a name of %s: %v", usOwner, euOwner, err)
	}
	if err := client(secrets[euOwner]).DeleteDomain(t.Context(), clustersName); err != nil {
		t.Error(err)
	}
	other := startProvider(t, n, "ap-1", secrets[euOwner])
	got := repeat(t, other, exchanged{Request: "GET /", Accept: "application/external.dns.webhook+json;version=1"})
	if got.Status != http.StatusInternalServerError || !strings.Contains(string(got.Answer), "--scope-owners ap-1") {
		t.Errorf("with the token of another owner: %d %s", got.Status, got.Answer)
	}
}

// repeatSteps repeats steps of the recording, compares the answers, and checks the servers after each step but the last
// one.
func repeatSteps(t *testing.T, n *harness.Node, at map[string]string, steps [][]exchanged) {
	t.Helper()
	for i, step := range steps {
		for _, e := range step {
			got := repeat(t, at[e.Owner], e)
			if got.Status != e.Status || !bytes.Equal(plain(t, got.Answer), plain(t, e.Answer)) {
				t.Fatalf("step %d, %s %s: %d %s, recorded is %d %s", i, e.Owner, e.Request, got.Status, got.Answer,
					e.Status,
					e.Answer)
			}
		}
		if len(afterSteps[i]) > 0 {
			haveServers(t, n, afterSteps[i], true)
		}
	}
}

// startProvider starts gslbctl external-dns, and returns where it answers.
func startProvider(t *testing.T, n *harness.Node, owner, token string) string {
	t.Helper()
	cmd := exec.Command(testbed.Binaries(t).Control, "external-dns", "--api", n.API.String(), "--owner", owner,
		//nolint:noctx // ended below
		"--region", "eu", "--listen", "127.0.0.1:0", "--health-listen", "127.0.0.1:0")
	cmd.Env = []string{testbed.RunMark + "=" + os.Getenv(testbed.RunMark), "HOME=" + t.TempDir(), "GSLB_TOKEN=" + token}
	reader, writer := io.Pipe()
	cmd.Stderr = writer
	ended, err := harness.StartTied(cmd, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		<-ended
		writer.Close()
		if code := cmd.ProcessState.ExitCode(); code != testbed.ExitOK {
			t.Errorf("gslbctl external-dns of %s ended with %d", owner, code)
		}
	})
	lines := bufio.NewReader(reader)
	line, err := lines.ReadBytes('\n')
	var told struct{ Listen string }
	if err != nil || json.Unmarshal(line, &told) != nil || told.Listen == "" {
		t.Fatalf("gslbctl external-dns says %q, %v", line, err)
	}
	go func() { _, _ = io.Copy(io.Discard, lines) }()
	return "http://" + told.Listen
}

// repeat sends a recorded request, and returns the exchange with the current answer.
func repeat(t *testing.T, at string, e exchanged) exchanged {
	t.Helper()
	method, path, _ := strings.Cut(e.Request, " ")
	r, err := http.NewRequestWithContext(t.Context(), method, at+path, bytes.NewReader(e.Body))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{"Content-Type": e.ContentType, "Accept": e.Accept} {
		if value != "" {
			r.Header.Set(name, value)
		}
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	e.Status = answer.StatusCode
	e.Answer, err = io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// plain returns JSON without insignificant white space.
func plain(t *testing.T, text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := json.Compact(&b, text); err != nil && len(text) > 0 {
		t.Fatalf("%v in %s", err, text)
	}
	return b.Bytes()
}

// haveServers compares the servers of the name with the expected servers, and waits until DNS answers with their
// addresses. exists tells whether the name must exist.
func haveServers(t *testing.T, n *harness.Node, want []string, exists bool) {
	t.Helper()
	doc, err := n.Client.Document(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var got, addresses []string
	for _, s := range doc.Servers {
		got = append(got, s.Text("owner")+" "+cmp.Or(s.Text("target"), s.Text("address"))+" "+s.Text("region"))
		if s.Text("service") == clustersName {
			addresses = append(addresses, s.Text("address"))
		}
	}
	slices.Sort(got)
	there := slices.ContainsFunc(doc.Domains, func(d api.DocumentDomain) bool { return d.Text("name") == clustersName })
	if !slices.Equal(got, want) || there != exists {
		t.Fatalf("the servers are %q, want %q; the name is there: %t", got, want, there)
	}
	testbed.Until(t, testbed.StartBound, "the answer to be of them", func(context.Context) error {
		r := testbed.Exchange(t, "udp", n, clustersName, dns.TypeA)
		stale := slices.ContainsFunc(r.Answer, func(rr dns.RR) bool {
			a, ok := rr.(*dns.A)
			return !ok || !slices.Contains(addresses, a.A.String())
		})
		if stale || (len(r.Answer) > 0) != (len(want) > 0) || (r.Rcode == dns.RcodeNameError) == there {
			return fmt.Errorf("%v", r)
		}
		return nil
	})
}
