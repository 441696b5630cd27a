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

// pkg contains the fields of a package in `go list -json` that the tests use.
type pkg struct {
	ImportPath string
	Name       string
	Standard   bool
	Imports    []string
}

// layers are the layers of an overwatch node, from the lowest. A package may import packages of its own layer and of
// lower layers. The packages of leaf do not depend on gslb.
var layers = []string{"leaf", "policy", "state", "health", "answer", "cluster", "control", "operate"}

// homes maps a library to the packages that may import it. Subpackages of these packages may import it too.
var homes = map[string][]string{
	"github.com/gin-gonic/gin":  {"gslb.internal/overwatch/internal/operate/httpapi"},
	"github.com/coreos/go-oidc": {"gslb.internal/overwatch/internal/operate/signin"},
	"golang.org/x/oauth2":       {"gslb.internal/overwatch/internal/operate/signin"},
	"github.com/hashicorp/memberlist": {"gslb.internal/overwatch/internal/health/gossip",
		"gslb.internal/agent/internal/report"},
	"filippo.io/age":          {"gslb.internal/gslbctl/internal/keybackup"},
	"go.etcd.io/bbolt":        {"gslb.internal/overwatch/internal/state/store"},
	"charm.land/bubbletea/v2": {"gslb.internal/gslbctl/internal/screen", "gslb.internal/integration/demo"},
	"github.com/charmbracelet/x/ansi": {
		"gslb.internal/gslbctl/internal/screen", "gslb.internal/gslbctl/internal/render", "gslb.internal/integration/demo",
	},
	"github.com/spf13/cobra":        {"gslb.internal/gslbctl/internal/cli", "gslb.internal/gslbctl/internal/cmdline"},
	"github.com/charmbracelet/x/vt": {"gslb.internal/integration", "gslb.internal/gslbctl/internal/cli"},
	"github.com/standard-webhooks":  {"gslb.internal/integration/replication"},
	"github.com/emersion":           {"gslb.internal/integration/observability"},
	"github.com/miekg/dns": {
		"gslb.internal/overwatch/internal/cluster/delegation", "gslb.internal/shared/resolve",
		"gslb.internal/overwatch/internal/state/zonefile",
		"gslb.internal/overwatch/internal/answer/zone", "gslb.internal/overwatch/internal/answer/dnssec",
		"gslb.internal/overwatch/internal/answer/dnsserver", "gslb.internal/overwatch/internal/answer/publish",
		"gslb.internal/overwatch/internal/operate/dnsupdate", "gslb.internal/overwatch/internal/operate/doctor",
		"gslb.internal/gslbctl", "gslb.internal/integration",
	},
}

const (
	ownModules    = "gslb.internal/"
	overwatchPath = "gslb.internal/overwatch"
	internalPath  = overwatchPath + "/internal/"
)

// modules maps each module to the other modules that it may import.
var modules = map[string][]string{
	"gslb.internal/shared":      nil,
	"gslb.internal/overwatch":   {"gslb.internal/shared"},
	"gslb.internal/agent":       {"gslb.internal/shared"},
	"gslb.internal/gslbctl":     {"gslb.internal/shared"},
	"gslb.internal/launcher":    {"gslb.internal/shared", "gslb.internal/overwatch", "gslb.internal/agent"},
	"gslb.internal/integration": {"gslb.internal/shared"},
}

// Each import of each package in the workspace is allowed.
func TestLayers_EveryImportIsAllowed(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range list(t, "gslb.internal/...") {
		seen[moduleOf(p.ImportPath)] = true
		for _, imported := range p.Imports {
			if reason := forbidden(p.ImportPath, imported); reason != "" {
				t.Errorf("%s imports %s: %s", p.ImportPath, imported, reason)
			}
		}
		if name, found := strings.CutPrefix(p.ImportPath, internalPath); found {
			layer, _, _ := strings.Cut(name, "/")
			if !slices.Contains(layers, layer) {
				t.Errorf("%s is in no layer: its folder must be one of %s", p.ImportPath, strings.Join(layers, ", "))
			}
		}
	}
	for m := range modules {
		if !seen[m] {
			t.Errorf("module %s has no package", m)
		}
	}
}

// forbidden returns the reason why a package may not import another package, or "".
func forbidden(from, to string) string {
	if strings.HasPrefix(to, ownModules) {
		return forbiddenOwn(from, to)
	}
	for library, allowed := range homes {
		if within(to, library) && !slices.ContainsFunc(allowed, func(home string) bool { return within(from, home) }) {
			return "only these packages may import it: " + strings.Join(allowed, ", ")
		}
	}
	for _, contract := range []string{"wire", "identity", "api", "check"} {
		if !within(from, "gslb.internal/shared/"+contract) || standard(to) {
			continue
		}
		if contract != "check" || !within(to, "golang.org/x/net") {
			return "it may import only the standard library"
		}
	}
	return ""
}

// forbiddenOwn returns the reason why a package may not import another package of the workspace, or "".
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
	fromLayer, _, _ := strings.Cut(fromName, "/")
	toLayer, _, _ := strings.Cut(toName, "/")
	if slices.Index(layers, toLayer) <= slices.Index(layers, fromLayer) {
		return ""
	}
	return fromLayer + " may import only lower layers than " + toLayer + "; the order is " +
		strings.Join(layers, " <- ") + " <- root"
}

func within(path, tree string) bool {
	return path == tree || strings.HasPrefix(path, tree+"/")
}

// standard reports whether a package is in the standard library: the first element of its path has no dot.
func standard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".")
}

func moduleOf(path string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(path, ownModules), "/")
	return ownModules + name
}

// The root of overwatch opens, runs and stops the parts. Other code belongs in a package of a layer.
func TestLayers_TheRootOfOverwatchHasAtMost1200Lines(t *testing.T) {
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

// A program does not link libraries of other programs, directly or indirectly.
func TestLayers_ProgramsLinkNoLibraryOfAnotherRole(t *testing.T) {
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

// deadcode is the pinned version of the tool. It requires only the Go module proxy.
const deadcode = "golang.org/x/tools/cmd/deadcode@v0.52.0"

// Each function is reachable from a shipped program or from the demo. Import checks cannot find functions that are
// linked and tested, but never called.
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
				t.Errorf("unreachable functions:\n%s", out)
			}
		})
	}
}

// list runs `go list` on the workspace. It returns the packages without the standard library.
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
			t.Fatalf("decoding the output of go list: %v", err)
		}
		if !p.Standard {
			all = append(all, p)
		}
	}
}
