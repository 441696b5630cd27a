package integration_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gslb.internal/integration/harness/testbed"
)

// pkg is the part of a package's entry in `go list -json` that these tests need.
type pkg struct {
	ImportPath string
	Name       string
	Standard   bool
	Imports    []string
}

// floors are the rooms of an overwatch node, the lowest first: each may import itself and what lies below it, never
// what lies above. leaf knows nothing of gslb: its packages could be repositories of their own.
var floors = []string{"leaf", "policy", "state", "health", "answer", "control", "operate"}

// homes lists the packages that may import a library, each with all below it.
var homes = map[string][]string{
	"github.com/gin-gonic/gin": {"gslb.internal/overwatch/internal/operate/httpapi"},
	"github.com/hashicorp/memberlist": {"gslb.internal/overwatch/internal/health/gossip",
		"gslb.internal/agent/internal/report"},
	"filippo.io/age":          {"gslb.internal/gslbctl/internal/keybackup"},
	"go.etcd.io/bbolt":        {"gslb.internal/overwatch/internal/state/store"},
	"charm.land/bubbletea/v2": {"gslb.internal/gslbctl/internal/screen", "gslb.internal/integration/demo"},
	"github.com/charmbracelet/x/ansi": {
		"gslb.internal/gslbctl/internal/screen", "gslb.internal/gslbctl/internal/render", "gslb.internal/integration/demo",
	},
	"github.com/charmbracelet/x/vt": {"gslb.internal/integration"},
	"github.com/standard-webhooks":  {"gslb.internal/integration/replication"},
	"github.com/emersion":           {"gslb.internal/integration/observability"},
	"github.com/miekg/dns": {
		"gslb.internal/overwatch/internal/answer/delegation", "gslb.internal/shared/resolve",
		"gslb.internal/overwatch/internal/state/zonefile",
		"gslb.internal/overwatch/internal/answer/zone", "gslb.internal/overwatch/internal/answer/dnssec",
		"gslb.internal/overwatch/internal/answer/dnsserver", "gslb.internal/overwatch/internal/answer/publish",
		"gslb.internal/overwatch/internal/operate/doctor", "gslb.internal/gslbctl",
		"gslb.internal/integration",
	},
}

const (
	overwatchPath = "gslb.internal/overwatch"
	internalPath  = overwatchPath + "/internal/"
)

// modules maps each module to the modules whose packages it may import, beside its own.
var modules = map[string][]string{
	"gslb.internal/shared":      nil,
	"gslb.internal/overwatch":   {"gslb.internal/shared"},
	"gslb.internal/agent":       {"gslb.internal/shared"},
	"gslb.internal/gslbctl":     {"gslb.internal/shared"},
	"gslb.internal/launcher":    {"gslb.internal/shared", "gslb.internal/overwatch", "gslb.internal/agent"},
	"gslb.internal/integration": {"gslb.internal/shared"},
}

// Everything that is imported anywhere in the workspace, held against who may import whom.
func TestWalls_EveryImportIsAllowed(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range list(t, "gslb.internal/...") {
		seen[moduleOf(p.ImportPath)] = true
		for _, imported := range p.Imports {
			if reason := forbidden(p.ImportPath, imported); reason != "" {
				t.Errorf("%s imports %s: %s", p.ImportPath, imported, reason)
			}
		}
		if name, found := strings.CutPrefix(p.ImportPath, internalPath); found {
			room, _, _ := strings.Cut(name, "/")
			if !slices.Contains(floors, room) {
				t.Errorf("%s is in no room: its folder must be one of %s", p.ImportPath, strings.Join(floors, ", "))
			}
		}
	}
	for m := range modules {
		if !seen[m] {
			t.Errorf("no package of %s was looked at", m)
		}
	}
}

// forbidden returns the reason why a package may not import another, "" if it may.
func forbidden(from, to string) string {
	if strings.HasPrefix(to, "gslb.internal/") {
		return forbiddenOwn(from, to)
	}
	for library, allowed := range homes {
		if within(to, library) && !slices.ContainsFunc(allowed, func(home string) bool { return within(from, home) }) {
			return "that library's home is " + strings.Join(allowed, ", ")
		}
	}
	for _, contract := range []string{"wire", "identity", "api", "check"} {
		if !within(from, "gslb.internal/shared/"+contract) || standard(to) {
			continue
		}
		if contract != "check" || !within(to, "golang.org/x/net") {
			return "it uses the standard library only"
		}
	}
	return ""
}

// forbiddenOwn is forbidden for two packages of this workspace.
func forbiddenOwn(from, to string) string {
	fromModule, toModule := moduleOf(from), moduleOf(to)
	if fromModule != toModule {
		if slices.Contains(modules[fromModule], toModule) {
			return ""
		}
		return fromModule + " may import " + strings.Join(append([]string{"itself"}, modules[fromModule]...), ", ") + " only"
	}
	fromName, inside := strings.CutPrefix(from, internalPath)
	toName, too := strings.CutPrefix(to, internalPath)
	switch {
	case fromModule != overwatchPath || from == overwatchPath || strings.HasPrefix(from, overwatchPath+"/cmd/"):
		return ""
	case !inside || !too:
		return "only cmd imports the root package"
	}
	fromRoom, _, _ := strings.Cut(fromName, "/")
	toRoom, _, _ := strings.Cut(toName, "/")
	if slices.Index(floors, toRoom) <= slices.Index(floors, fromRoom) {
		return ""
	}
	return toRoom + " is above " + fromRoom + ": imports go down, " + strings.Join(floors, " <- ") + " <- root"
}

func within(path, tree string) bool {
	return path == tree || strings.HasPrefix(path, tree+"/")
}

// standard reports whether an import is of the standard library: its first element has no dot.
func standard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".")
}

func moduleOf(path string) string {
	parts := strings.SplitN(path, "/", 3)
	return strings.Join(parts[:min(2, len(parts))], "/")
}

// The root of overwatch opens, runs and stops the parts. What is more than that belongs into one of them.
func TestWalls_TheRootOfOverwatchHasAtMost1200Lines(t *testing.T) {
	files, err := filepath.Glob("../overwatch/*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	lines := 0
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		lines += bytes.Count(text, []byte("\n"))
	}
	if lines > 1200 {
		t.Errorf("it has %d lines", lines)
	}
}

// What a program does not need must not be linked into it, by whatever way.
func TestWalls_ProgramsLinkNoLibraryOfAnotherRole(t *testing.T) {
	for program, foreign := range map[string][]string{
		"gslb.internal/agent/cmd/gslb-agent": {"github.com/gin-gonic/gin", "go.etcd.io/bbolt",
			"gslb.internal/overwatch", "gslb.internal/gslbctl"},
		"gslb.internal/gslbctl/cmd/gslbctl": {"github.com/gin-gonic/gin", "go.etcd.io/bbolt",
			"github.com/hashicorp/memberlist", "gslb.internal/overwatch", "gslb.internal/agent"},
		"gslb.internal/overwatch/cmd/gslb-overwatch": {"gslb.internal/agent", "gslb.internal/gslbctl"},
	} {
		for _, p := range list(t, "-deps", program) {
			for _, f := range foreign {
				if within(p.ImportPath, f) {
					t.Errorf("%s links %s", program, p.ImportPath)
				}
			}
		}
	}
}

// deadcode is pinned, and run in a way that needs nothing but the Go module proxy.
const deadcode = "golang.org/x/tools/cmd/deadcode@v0.52.0"

// Reachability: whatever is written is reached from a program that ships, or from the demo. It catches what import
// checks cannot: code that is linked, documented, unit-tested and never called.
func TestReachability_NoDeadCodeInAnyProgram(t *testing.T) {
	t.Parallel()
	for name, programs := range map[string][]string{
		"what ships": {"./overwatch/cmd/gslb-overwatch", "./agent/cmd/gslb-agent", "./gslbctl/cmd/gslbctl",
			"./packaging/launcher"},
		"the demo": {"./integration/cmd/demo", "./integration/cmd/backend"},
	} {
		t.Run(name, func(t *testing.T) {
			filter := `^gslb\.internal/`
			if name == "the demo" {
				filter += "integration"
			}
			out := testbed.GoCommand(t, append([]string{"run", deadcode, "-filter", filter}, programs...)...)
			if len(out) > 0 {
				t.Errorf("never reached:\n%s", out)
			}
		})
	}
}

// list runs `go list` on the workspace and returns its packages, those of the standard library left out.
func list(t *testing.T, args ...string) []pkg {
	t.Helper()
	out := testbed.GoCommand(t, append([]string{"list", "-json=ImportPath,Name,Standard,Imports"}, args...)...)
	var all []pkg
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		err := d.Decode(&p)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatalf("reading what go list says: %v", err)
		}
		if !p.Standard {
			all = append(all, p)
		}
	}
}
