package docs_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

// step is a fenced block.
type step struct{ language, where, name, text string }

var (
	fenced  = regexp.MustCompile("(?ms)^( *)```(\\w+) ?(\\w*) ?(\\w*)\n(.*?)^ *```$")
	heading = regexp.MustCompile(`(?m)^## (.*)$`)
)

// steps returns the blocks below a heading, or all blocks of the document for an empty heading.
func steps(t *testing.T, path, under string) (list []step) {
	t.Helper()
	text := testbed.Read(t, path)
	if under != "" {
		_, below, found := strings.Cut(text, "\n## "+under+"\n")
		if !found {
			t.Fatalf("%s has no section %q", path, under)
		}
		text = below
		if next := heading.FindStringIndex(text); next != nil {
			text = text[:next[0]]
		}
	}
	for _, m := range fenced.FindAllStringSubmatch(text, -1) {
		list = append(list, step{language: m[2], where: m[3], name: m[4],
			text: strings.ReplaceAll("\n"+m[5], "\n"+m[1], "\n")})
	}
	if len(list) == 0 {
		t.Fatalf("%s, %q: no blocks", path, under)
	}
	return list
}

func (r *runbook) section(t *testing.T, under string) {
	t.Helper()
	for _, s := range steps(t, r.path, under) {
		*r.ran++
		switch s.where {
		case "once":
			out := strings.TrimSpace(r.shell(t, s.text, nil))
			if out == "" || s.name == "" {
				t.Fatalf("%q: name %q, output %q", s.text, s.name, out)
			}
			r.words[s.name] = out
		case "first", "node":
			for i, n := range r.Nodes {
				if s.where == "node" || i == 0 {
					r.do(t, s, n.Path, n, nil)
				}
			}
		case "agent":
			for _, a := range r.Agents {
				r.othersServe(t)
				r.do(t, s, a.Path, nil, a)
			}
		case "every":
			for _, n := range r.all() {
				r.do(t, s, n.Path, n, nil)
			}
		case "new", "old":
			r.doOnOne(t, s)
		case "all":
			r.shell(t, fill(s.text, r.words), nil)
		default:
			t.Fatalf("%s: a block for %q: expected once, first, node, agent, every, new, old or all", r.path, s.where)
		}
	}
}

// doOnOne executes a block on the machine that joins or leaves.
func (r *runbook) doOnOne(t *testing.T, s step) {
	t.Helper()
	n, a := r.joining, r.joiningAgent
	if s.where == "old" {
		n, a = r.leaving, r.leavingAgent
	}
	if n != nil {
		r.do(t, s, n.Path, n, nil)
	} else {
		r.do(t, s, a.Path, nil, a)
	}
}

// all returns the nodes of the site and the node that joins.
func (r *runbook) all() []*harness.Node {
	if r.joining == nil {
		return r.Nodes
	}
	return append(slices.Clone(r.Nodes), r.joining)
}

// fill replaces the words of a document.
func fill(text string, words map[string]string) string {
	for word, is := range words {
		text = regexp.MustCompile(`\b`+word+`\b`).ReplaceAllLiteralString(text, is)
	}
	return text
}

// othersServe waits until every backend serves on every node, so that one of the nodes may stop.
func (r *runbook) othersServe(t *testing.T) {
	t.Helper()
	testbed.Until(t, testbed.StartBound, "every backend to serve", func(ctx context.Context) error {
		for _, n := range r.Nodes {
			list, err := n.Client.Backends(ctx, api.BackendFilter{})
			if err != nil {
				return err
			}
			for _, b := range list.Backends {
				if !b.MayServe {
					return fmt.Errorf("%s at %s is %s: %s", b.ID, n.Name, b.EffectiveStatus, b.Reason)
				}
			}
			if len(list.Backends) < len(r.Backends) {
				return fmt.Errorf("%s has %d backends", n.Name, len(list.Backends))
			}
		}
		return nil
	})
}

// do executes one block on one machine.
func (r *runbook) do(t *testing.T, s step, config string, n *harness.Node, a *harness.Agent) {
	t.Helper()
	if s.language == "yaml" {
		r.lay(t, config, s.text)
		return
	}
	unit := map[string]*harness.Unit{}
	var places []string
	words := maps.Clone(r.words)
	if n != nil {
		unit["gslb-overwatch"] = n.Unit
		etc := filepath.Dir(n.Path)
		places = []string{"/etc/gslb", etc, "/var/backups", filepath.Dir(filepath.Dir(etc)),
			"gslb.tar.gz", n.Name + ".tar.gz", "gslb.yaml", n.Name + ".objects.yaml",
			"gslb-keys.age", n.Name + ".keys.age",
			"/var/lib/gslb", n.File.DataDir, "127.0.0.1:9090", n.Prom.String(), "127.0.0.1:8080", n.API.String()}
	} else {
		unit["gslb-agent"] = a.Unit
		places = []string{"/etc/gslb/agent.yaml", a.Path}
		words["AGENT"] = a.Name
	}
	for line := range strings.Lines(strings.TrimSpace(s.text)) {
		line = fill(strings.NewReplacer(places...).Replace(strings.TrimSpace(line)), words)
		switch fields := strings.Fields(line); fields[0] {
		case "systemctl":
			r.systemctl(t, fields[1], unit[fields[2]], n)
		case "chown": // everything here belongs to who runs the tests
		default:
			r.shell(t, line, n)
		}
	}
	if s.where == "new" || s.where == "old" {
		return // the document says when to wait
	}
	if n != nil {
		r.Ready(t, n)
		if spans := r.away[n]; len(spans) > 0 && spans[len(spans)-1].to.IsZero() {
			spans[len(spans)-1].to = time.Now()
		}
	}
	if a != nil {
		r.sound(t)
	}
}

// systemctl performs the action of the service manager on a unit.
func (r *runbook) systemctl(t *testing.T, verb string, u *harness.Unit, n *harness.Node) {
	t.Helper()
	if u == nil {
		t.Fatalf("systemctl %s of a unit that is not on this machine", verb)
	}
	if n != nil && verb != "reload" && verb != "start" {
		r.away[n] = append(r.away[n], span{from: time.Now()})
	}
	var err error
	switch verb {
	case "stop":
		err = u.Stop()
	case "start":
		err = u.Start()
	case "restart":
		if err = u.Stop(); err == nil {
			err = u.Start()
		}
	case "reload":
		told := func() int {
			log, err := os.ReadFile(u.Log)
			if err != nil {
				t.Fatal(err)
			}
			return strings.Count(string(log), "configuration reloaded")
		}
		before := told()
		if err = u.Signal(syscall.SIGHUP); err == nil {
			testbed.Until(t, testbed.ReloadBound, u.Name+" to have reloaded", func(context.Context) error {
				if told() <= before {
					return fmt.Errorf("%d reloads", before)
				}
				return nil
			})
		}
	default:
		t.Fatalf("systemctl %s: not a verb that is known here", verb)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// shell runs commands as an operator on a machine, and returns their standard output.
func (r *runbook) shell(t *testing.T, text string, at *harness.Node) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testbed.StartBound)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", text)
	var nodes, answering []string
	for _, n := range r.all() {
		if at == nil || at == n {
			nodes, answering = append(nodes, n.API.String()), append(answering, n.DNS.String())
		}
	}
	cmd.Env = append(os.Environ(), "PATH="+r.words["PATH"]+":"+os.Getenv("PATH"), "GSLB_API="+strings.Join(nodes, ","),
		"GSLB_DNS="+strings.Join(answering, ","))
	var complaint strings.Builder
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", text, err, out, complaint.String())
	}
	return string(out)
}

// lay merges a block of the document into a configuration file, as an operator would edit it.
func (r *runbook) lay(t *testing.T, path, text string) {
	t.Helper()
	text = fill(text, r.words)
	var over, file map[string]any
	if err := yaml.Unmarshal([]byte(text), &over); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	before := testbed.Read(t, path)
	if err := yaml.Unmarshal([]byte(before), &file); err != nil {
		t.Fatal(err)
	}
	merge(file, over)
	after, err := yaml.Marshal(file)
	if err != nil {
		t.Fatal(err)
	}
	testbed.Write(t, path, 0o600, string(after))
}

// merge merges keys into other keys; null deletes a key.
func merge(into, over map[string]any) {
	for key, value := range over {
		below, isMap := value.(map[string]any)
		there, has := into[key].(map[string]any)
		switch {
		case value == nil:
			delete(into, key)
		case isMap && has:
			merge(there, below)
		default:
			into[key] = value
		}
	}
}
