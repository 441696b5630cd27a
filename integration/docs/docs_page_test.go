package docs_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gslb.internal/integration/harness/testbed"
)

// TestDocsPage_InABrowser opens the page of a node without a console in a browser: it lists every operation of the
// document and opens the operation in the URL. The browser sends requests only to the node and logs no error.
func TestDocsPage_InABrowser(t *testing.T) {
	t.Parallel()
	browser := testbed.Judge(t, "chromium")
	s := testbed.NewSite(t, 1, 0)
	n := s.Nodes[0]
	n.File.API.More = map[string]any{"console": false}
	s.StartAll(t)
	answer, err := http.Get(n.Client.Node() + "/api/v1/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var document struct {
		Paths map[string]map[string]json.RawMessage
	}
	if err := json.NewDecoder(answer.Body).Decode(&document); err != nil {
		t.Fatal(err)
	}

	page, said, asked := open(t, browser, n.Client.Node()+"/api/docs#postDomains", n.Client.Node())
	operations := 0
	for path, item := range document.Paths {
		for method, raw := range item {
			var operation struct{ OperationID, Summary string }
			if method == "parameters" {
				continue
			}
			if err := json.Unmarshal(raw, &operation); err != nil {
				t.Fatal(err)
			}
			operations++
			shown := fmt.Sprintf(`<span class="method %s">%s</span><code>%s</code>`, method, strings.ToUpper(method), path)
			if !strings.Contains(page, `id="`+operation.OperationID+`"`) || !strings.Contains(page, shown) {
				t.Errorf("%s %s is not on the page", method, path)
			}
		}
	}
	if listed := strings.Count(page, "<details "); listed != operations || operations < 100 {
		t.Errorf("%d operations are on the page, %d in the document", listed, operations)
	}
	if !strings.Contains(page, "Body, application/json") || !strings.Contains(page, "<td>routing_policy</td>") {
		t.Error("the operation that the address names is not open")
	}
	if strings.Contains(said, "Content Security Policy") || strings.Contains(said, "Uncaught") ||
		strings.Contains(said, "CONSOLE") {
		t.Errorf("the browser complains:\n%s", said)
	}
	wanted := map[string]bool{"/api/docs/docs.css": true, "/api/docs/docs.js": true,
		"/api/docs/page.js": true, "/api/v1/openapi.json": true}
	for _, url := range asked {
		path, own := strings.CutPrefix(url, n.Client.Node())
		if !own {
			t.Errorf("the page asked for %s", url)
		}
		delete(wanted, path)
	}
	if len(wanted) > 0 {
		t.Errorf("the page did not ask for %v, but for %v", wanted, asked)
	}
}

// open loads a page in a browser. It returns the page after its script has run, the log of the browser, and the
// requested URLs.
func open(t *testing.T, browser, url, origin string) (page, said string, asked []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	defer cancel()
	dir := t.TempDir()
	netLog := filepath.Join(dir, "net.json")
	command := exec.CommandContext(ctx, browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic",
		"--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--enable-logging=stderr",
		"--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
		"--user-data-dir="+filepath.Join(dir, "profile"), "--log-net-log="+netLog, "--virtual-time-budget=10000",
		"--dump-dom", url)
	command.Env = append(os.Environ(), "HOME="+dir)
	var out, log bytes.Buffer
	command.Stdout, command.Stderr = &out, &log
	if err := command.Run(); err != nil {
		t.Fatalf("%s: %v\n%.3000s", browser, err, log.String())
	}
	text := testbed.Read(t, netLog)
	var net struct {
		Events []struct {
			Params struct{ URL, Initiator string }
		}
	}
	if err := json.Unmarshal([]byte(text), &net); err != nil {
		t.Fatalf("the browser's log of the network: %v", err)
	}
	for _, e := range net.Events {
		if e.Params.URL != "" && e.Params.Initiator == origin {
			asked = append(asked, e.Params.URL)
		}
	}
	return out.String(), log.String(), asked
}
