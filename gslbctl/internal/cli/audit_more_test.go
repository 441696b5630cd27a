package cli // inside: it uses exitWell

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

func TestAuditTail_TheNewestComesLast(t *testing.T) {
	n := startNode(t)
	list := fakeAudit()
	slices.Reverse(list.Entries) // as a node answers unless it is told otherwise
	n.answers["GET /api/v1/audit-logs"] = list
	r := ask(t, "audit tail", n)
	lines := strings.Split(strings.TrimSpace(r.out), "\n")
	if r.code != exitWell || len(lines) != 2 || !strings.Contains(lines[0], "override") ||
		!strings.Contains(lines[1], "reload") {
		t.Errorf("exit code %d: %q %s", r.code, r.out, r.errors)
	}
	r = ask(t, "-o json audit tail --lines 2", n)
	if lines := strings.Split(strings.TrimSpace(r.out), "\n"); r.code != exitWell || len(lines) != 2 ||
		!strings.HasPrefix(lines[0], `{"id":1,`) {
		t.Errorf("exit code %d: %q %s", r.code, r.out, r.errors)
	}
	var entries []map[string]any
	r = ask(t, "-o yaml audit tail", n)
	if err := yaml.Unmarshal([]byte(r.out), &entries); err != nil || len(entries) != 2 {
		t.Errorf("%v: %s", err, r.out)
	}
	if r = ask(t, "-o name audit tail", n); r.out != "1\n2\n" {
		t.Errorf("%+v", r)
	}
	if r = ask(t, "-o wide audit tail", n); strings.Count(r.out, "  from ") != 2 {
		t.Errorf("%+v", r)
	}
	for _, args := range [][]string{{"--lines", "0"}, {"--lines", "1001"}, {"-o", "csv"}} {
		if r := call(t, System{}, []*node{n}, append([]string{"--api", documented(0), "audit", "tail"},
			args...)...); r.code == exitWell {
			t.Errorf("%v: %s", args, r.out)
		}
	}
}

func TestAuditExport_WritesANewFileThatIsWholeOrNone(t *testing.T) {
	n := startNode(t)
	n.answers["GET /api/v1/audit-logs/export"] = map[string]any{"entries": []any{}}
	path := filepath.Join(t.TempDir(), "audit.json")
	export := func(args ...string) int {
		return call(t, System{}, []*node{n}, append([]string{"--api", documented(0), "audit", "export"}, args...)...).code
	}
	if code := export("--file", path); code != exitWell {
		t.Fatal(code)
	}
	if text, err := os.ReadFile(path); err != nil || !strings.Contains(string(text), "entries") {
		t.Errorf("%s, %v", text, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if export("--file", path) == exitWell {
		t.Error("a file that exists was overwritten")
	}
	if export("--format", "xml") == exitWell {
		t.Error("a format that does not exist was taken")
	}
	delete(n.answers, "GET /api/v1/audit-logs/export")
	if other := path + "2"; export("--file", other) == exitWell {
		t.Error("an error was no error")
	} else if _, err := os.Stat(other); err == nil {
		t.Error("half a file stays")
	}
}
