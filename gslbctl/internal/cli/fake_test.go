package cli // inside: it shares fake_answers_test.go

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/shared/api"
	"gslb.internal/shared/buildinfo"
)

// now is the time of all tests.
var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func ago(d time.Duration) *time.Time {
	at := now.Add(-d)
	return &at
}

func pointer[T any](v T) *T { return &v }

// node simulates an overwatch node: fixed answers by method and path, and a record of the requests.
type node struct {
	url     string
	answers map[string]any // "GET /path" -> a value, or an *api.Error for an error
	obeys   bool           // accept changes without an entry in answers

	mu    sync.Mutex
	asked []string
	safe  []string // of those, with if_safe

	changeIDs []string // the ids of changes that requests had
}

// breaksOff is the answer of a node that fails during a request.
const breaksOff = "dead"

func startNode(t *testing.T) *node {
	t.Helper()
	n := &node{answers: wellAnswers()}
	srv := httptest.NewServer(n)
	t.Cleanup(srv.Close)
	n.url = srv.URL
	return n
}

func (n *node) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	line := r.Method + " " + r.URL.Path
	query := r.URL.Query()
	query.Del("limit")
	query.Del("offset")
	safe := query.Get("if_safe") == "true"
	query.Del("if_safe")
	n.mu.Lock()
	if safe {
		n.safe = append(n.safe, line)
	}
	if change := r.Header.Get(api.ChangeHeader); change != "" {
		n.changeIDs = append(n.changeIDs, change)
	}
	n.asked = append(n.asked, strings.TrimRight(line+" "+query.Encode()+" "+string(body), " "))
	answer, found := n.answers[line+"?"+query.Encode()]
	if !found {
		answer, found = n.answers[line]
	}
	n.mu.Unlock()
	status := http.StatusOK
	switch refused, isError := answer.(*api.Error); {
	case !found && n.obeys && r.Method != http.MethodGet:
		answer = api.Outcome{Success: true}
	case !found:
		status, answer = http.StatusNotFound, api.ErrorBody{Error: "no such thing is known"}
	case answer == breaksOff:
		panic(http.ErrAbortHandler)
	case isError:
		status, answer = refused.Status, api.ErrorBody{Error: refused.Message, Problems: refused.Problems,
			Undo: refused.Undo}
	}
	if ready, ok := answer.(api.Readiness); ok && !ready.Ready {
		status = http.StatusServiceUnavailable
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(answer)
}

// changes returns the non-read requests to the node, in order.
func (n *node) changes() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	var list []string
	for _, line := range n.asked {
		if !strings.HasPrefix(line, "GET ") && !strings.HasPrefix(line, "POST /api/v1/routing/consequences") &&
			!strings.Contains(line, "/undo dry_run") &&
			!strings.Contains(line, "/dnssec/rollover dry_run") && !strings.Contains(line, "sign dry_run") &&
			!strings.Contains(line, "force dry_run") {
			list = append(list, line)
		}
	}
	return list
}

// result is the outcome of one command line: its exit code, standard output and standard error.
type result struct {
	code        int
	out, errors string
}

// call runs a command line. node1, node2 and so on represent nodes; in the result they have the addresses of the
// documentation.
func call(t *testing.T, sys cmdline.System, nodes []*node, args ...string) result {
	t.Helper()
	for i, arg := range args {
		for k, n := range nodes {
			arg = strings.ReplaceAll(arg, documented(k), strings.TrimPrefix(n.url, "http://"))
		}
		args[i] = arg
	}
	var out, errs bytes.Buffer
	sys.Out, sys.Err = &out, &errs
	if sys.In == nil {
		sys.In = strings.NewReader("")
	}
	if sys.Getenv == nil {
		sys.Getenv = func(string) string { return "" }
	}
	sys.Now = func() time.Time { return now }
	sys.Build = buildinfo.Info{Version: "1.2.3", GoVersion: "go1.26", GitCommit: "0123456789abcdef",
		BuildDate: "2026-01-01T00:00:00Z"}
	code := Run(t.Context(), sys, args)
	r := result{code, out.String(), errs.String()}
	for k, n := range nodes {
		address := strings.TrimPrefix(n.url, "http://")
		if len(address) != len(documented(k)) {
			t.Fatalf("the address %s is not as long as %s, and tables would not align", address, documented(k))
		}
		r.out = strings.ReplaceAll(r.out, address, documented(k))
		r.errors = strings.ReplaceAll(r.errors, address, documented(k))
	}
	return r
}

// ask runs a command line, without quotes, on nodes.
func ask(t *testing.T, line string, nodes ...*node) result {
	t.Helper()
	words := strings.Fields(line)
	for k := range nodes {
		words = append(words, "--api", documented(k))
	}
	return call(t, cmdline.System{}, nodes, words...)
}

// documented returns the address of a node in the documentation. It has the same length as the address of a test
// server, with a port of five digits.
func documented(k int) string { return fmt.Sprintf("127.0.0.1:%d8080", k+1) }

var update = flag.Bool("update", false, "write the golden files")

// golden compares with a file in testdata; -update writes it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", regexp.MustCompile(`[^a-z0-9.-]+`).ReplaceAllString(name, "_")+".golden")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; -update makes it", err)
	}
	if got != string(want) {
		t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
	}
}
