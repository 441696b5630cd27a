package integration_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
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
	"gslb.internal/shared/api"
)

// runbook is a document whose blocks are executed: "```sh node" on each overwatch node, "agent" on each agent, "first" on the first
// node, "once NAME" anywhere, what it prints being NAME from then on; "```yaml node" and "agent" are laid over the configuration.
type runbook struct {
	*site
	path  string
	words map[string]string // what stands for a word of the document
	away  map[*harness.Node][]span
	ran   *int // blocks
}

// span is a time in which a node was told to be away.
type span struct{ from, to time.Time }

// step is a fenced block.
type step struct{ language, where, name, text string }

var (
	fenced  = regexp.MustCompile("(?ms)^( *)```(\\w+) ?(\\w*) ?(\\w*)\n(.*?)^ *```$")
	heading = regexp.MustCompile(`(?m)^## (.*)$`)
)

// steps are the blocks below a heading; all of the document if it is empty.
func steps(t *testing.T, path, under string) (list []step) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text := string(content)
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
		list = append(list, step{language: m[2], where: m[3], name: m[4], text: strings.ReplaceAll("\n"+m[5], "\n"+m[1], "\n")})
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
			for i, n := range r.nodes {
				if s.where == "node" || i == 0 {
					r.do(t, s, n.Path, n, nil)
				}
			}
		case "agent":
			for _, a := range r.agents {
				r.do(t, s, a.Path, nil, a)
			}
		default:
			t.Fatalf("%s: a block for %q: expected once, first, node or agent", r.path, s.where)
		}
	}
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
		places = []string{"/etc/gslb/overwatch.yaml", n.Path, "/var/backups", filepath.Dir(filepath.Dir(n.Path)), "gslb.tar.gz", n.Name + ".tar.gz",
			"/var/lib/gslb", n.File.DataDir, "127.0.0.1:9090", n.Prom.String(), "127.0.0.1:8080", n.API.String()}
	} else {
		unit["gslb-agent"] = a.Unit
		places = []string{"/etc/gslb/agent.yaml", a.Path}
		words["AGENT"] = a.Name
	}
	for line := range strings.Lines(strings.TrimSpace(s.text)) {
		line = strings.NewReplacer(places...).Replace(strings.TrimSpace(line))
		for word, is := range words {
			line = regexp.MustCompile(`\b`+word+`\b`).ReplaceAllLiteralString(line, is)
		}
		switch fields := strings.Fields(line); fields[0] {
		case "systemctl":
			r.systemctl(t, fields[1], unit[fields[2]], n, a)
		case "chown": // everything here belongs to who runs the tests
		default:
			r.shell(t, line, n)
		}
	}
	if n != nil {
		r.ready(t, n)
		if spans := r.away[n]; len(spans) > 0 && spans[len(spans)-1].to.IsZero() {
			spans[len(spans)-1].to = time.Now()
		}
	}
	if a != nil {
		r.sound(t)
	}
}

// sound waits until each node finds each backend well, as a runbook says to do before the next agent.
func (r *runbook) sound(t *testing.T) {
	t.Helper()
	for _, n := range r.nodes {
		for _, b := range r.backends {
			r.status(t, n, b, startBound, func(v api.Backend) error {
				if v.AgentHealthy == nil || !*v.AgentHealthy {
					return fmt.Errorf("its agent does not speak for it: %s", v.Reason)
				}
				return wantSound(v)
			})
		}
	}
}

// systemctl does to a unit what the service manager would.
func (r *runbook) systemctl(t *testing.T, verb string, u *harness.Unit, n *harness.Node, a *harness.Agent) {
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
			until(t, reloadBound, u.Name+" to have reloaded", func(context.Context) error {
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

// shell runs commands as an operator on a machine, and returns what they print on standard output.
func (r *runbook) shell(t *testing.T, text string, at *harness.Node) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), startBound)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", text)
	var nodes []string
	for _, n := range r.nodes {
		if at == nil || at == n {
			nodes = append(nodes, n.API.String())
		}
	}
	cmd.Env = append(os.Environ(), "PATH="+r.words["PATH"]+":"+os.Getenv("PATH"), "GSLB_API="+strings.Join(nodes, ","))
	var complaint strings.Builder
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", text, err, out, complaint.String())
	}
	return string(out)
}

// lay puts a block of the document over a configuration file, as whoever edits it would.
func (r *runbook) lay(t *testing.T, path, text string) {
	t.Helper()
	for word, is := range r.words {
		text = regexp.MustCompile(`\b`+word+`\b`).ReplaceAllLiteralString(text, is)
	}
	var over, file map[string]any
	if err := yaml.Unmarshal([]byte(text), &over); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(before, &file); err != nil {
		t.Fatal(err)
	}
	merge(file, over)
	after, err := yaml.Marshal(file)
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, 0o600, string(after))
}

// merge lays keys over others; null takes one away.
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

// servedThroughout checks that every lookup was answered well but those of a node in the time in which the runbook had it away, and
// that at no time two nodes were away.
func (r *runbook) servedThroughout(t *testing.T) {
	t.Helper()
	var all []span
	for _, n := range r.nodes {
		all = append(all, r.away[n]...)
		for _, a := range r.watch.Since(n, appName, r.began) {
			// An answer's time is when it came; a question of a node that is away waits for as long as a client does.
			excused := slices.ContainsFunc(r.away[n], func(s span) bool {
				return a.At.After(s.from.Add(-harness.AnswerBound)) && a.At.Before(s.to.Add(harness.AnswerBound))
			})
			if !a.Good() && !excused && !r.excused(a) {
				t.Errorf("%s failed a lookup %s after all was ready: %+v", n.Name, a.At.Sub(r.began).Round(time.Millisecond), a)
				return
			}
		}
	}
	slices.SortFunc(all, func(a, b span) int { return a.from.Compare(b.from) })
	for i := 1; i < len(all); i++ {
		if all[i].from.Before(all[i-1].to) {
			t.Error("two nodes were away at once")
		}
	}
}

// startRunbook starts a site for a document.
func startRunbook(t *testing.T, path string, ran *int, nodes, backends int) *runbook {
	t.Helper()
	judge(t, "curl")
	r := &runbook{site: startSite(t, nodes, backends), path: path, ran: ran, away: map[*harness.Node][]span{}}
	r.words = map[string]string{"SERVICE": appName, "ZONE": zoneName, "PATH": programsTogether(t)}
	return r
}

func TestRunbook_Rotation(t *testing.T) {
	t.Parallel()
	const path = "../overwatch/docs/rotation.md"
	ran := 0
	t.Run("gossip key", func(t *testing.T) {
		r := startRunbook(t, path, &ran, 2, 2)
		r.words["OLD"] = r.GossipKey
		r.section(t, "Gossip key")
		r.servedThroughout(t)
		stranger := r.addAgent(t, "agent-3", appName, r.backends[0]) // has the old key
		start(t, stranger)
		until(t, startBound, "the old key to be of no use", func(context.Context) error {
			return said(stranger.Unit, "key")
		})
		for _, n := range r.nodes {
			until(t, startBound, n.Name+" to count packets of who has the old key", func(context.Context) error {
				if text := scrape(t, n.Prom.String()); !regexp.MustCompile(`gslb_gossip_dropped_total\{reason="[^"]*"\} [1-9]`).MatchString(text) {
					return errors.New("it counts none")
				}
				return nil
			})
		}
	})
	t.Run("service token", func(t *testing.T) {
		r := startRunbook(t, path, &ran, 2, 2)
		r.words["OLD"] = r.Tokens[appName]
		r.section(t, "Service token")
		r.servedThroughout(t)
		if len(r.away) > 0 {
			t.Error("a node restarted")
		}
		late := r.addAgent(t, "agent-3", appName, r.backends[0]) // has the old token
		start(t, late)
		until(t, startBound, "the old token to be refused", func(context.Context) error { return said(late.Unit, "token") })
	})
	t.Run("agent certificate", func(t *testing.T) {
		r := startRunbook(t, path, &ran, 2, 2)
		before := r.pins(t, r.nodes[0])
		r.section(t, "Agent certificate")
		r.servedThroughout(t)
		for _, n := range r.nodes {
			for agent, pin := range r.pins(t, n) {
				if before[agent] == pin {
					t.Errorf("%s has the old certificate of %s", n.Name, agent)
				}
			}
		}
	})
	t.Run("DNSSEC key", func(t *testing.T) {
		judge(t, "dnssec-keygen")
		r := startRunbook(t, path, &ran, 1, 1)
		old := strings.TrimSuffix(filepath.Base(keyFilesOf(t, r.nodes[0])[0]), ".private")
		r.words["OLD"] = strings.TrimSuffix(old, ".key")
		r.section(t, "DNSSEC key")
		r.servedThroughout(t)
		tags, err := keyTags(t.Context(), r.nodes[0])
		if err != nil || len(tags) != 1 || strings.HasSuffix(r.words["OLD"], fmt.Sprintf("+%05d", tags[0])) {
			t.Errorf("keys %v after the rotation from %s: %v", tags, r.words["OLD"], err)
		}
	})
	if all := len(steps(t, path, "")); !t.Failed() && !t.Skipped() && ran != all {
		t.Errorf("%d of %d blocks were executed", ran, all)
	}
}

// Both nodes are lost with their disks and come back from their backups: the same keys, pins and overrides, and agents that notice nothing
// but a pause.
func TestRunbook_AllNodesLost(t *testing.T) {
	t.Parallel()
	const path = "../overwatch/docs/backup.md"
	ran := 0
	r := startRunbook(t, path, &ran, 2, 2)
	ctx := t.Context()
	known := map[*harness.Node][]any{}
	out := r.backends[1].At
	r.shell(t, fmt.Sprintf("gslbctl overrides set %s %s --healthy=false --reason drill --expires-in 1h", appName, out), nil)
	changed := time.Now()
	facts := func(n *harness.Node) []any {
		ds, err := n.Client.DSRecords(ctx)
		if err != nil {
			t.Fatal(err)
		}
		certificate, err := os.ReadFile(filepath.Join(n.File.DataDir, "overwatch.crt"))
		if err != nil {
			t.Fatal(err)
		}
		return []any{fmt.Sprintf("%+v", ds.DSRecords), fmt.Sprint(r.pins(t, n)), string(certificate)}
	}
	for _, n := range r.nodes {
		until(t, time.Minute, "the copy of "+n.Name, func(context.Context) error {
			info, err := os.Stat(filepath.Join(n.File.DataDir, "gslb.db.copy"))
			if err == nil && !info.ModTime().After(changed) {
				err = fmt.Errorf("it is of %s", info.ModTime())
			}
			return err
		})
		known[n] = facts(n)
	}
	r.section(t, "Making a backup")
	r.servedThroughout(t)
	for _, n := range r.nodes {
		if _, err := n.Kill(); err != nil {
			t.Fatal(err)
		}
		for _, lost := range []string{n.Path, n.File.DataDir} {
			if err := os.RemoveAll(lost); err != nil {
				t.Fatal(err)
			}
		}
	}
	r.section(t, "Restoring a node")
	for _, n := range r.nodes {
		if now := facts(n); !slices.Equal(now, known[n]) {
			t.Errorf("%s came back with\n%v\nand had\n%v", n.Name, now, known[n])
		}
		if text := scrape(t, n.Prom.String()); !strings.Contains(text, "\ngslb_store_recovered 0\n") {
			t.Errorf("%s calls its store damaged", n.Name)
		}
		r.status(t, n, r.backends[0], time.Minute, func(v api.Backend) error {
			if v.AgentHealthy == nil || !*v.AgentHealthy {
				return fmt.Errorf("its agent is not back: %s", v.Reason)
			}
			return wantSound(v)
		})
		r.status(t, n, r.backends[1], time.Minute, func(v api.Backend) error { return wantStatus(v, api.EffectiveUnhealthy, false) })
		began := time.Now()
		r.answered(t, n, r.backends[0].At.Addr(), began, startBound)
		r.noFailures(t, n, began)
	}
	if all := len(steps(t, path, "")); ran != all {
		t.Errorf("%d of %d blocks were executed", ran, all)
	}
}

// Each gslbctl line of a manual is a command that there is, with flags that it has.
func TestManuals_CommandsExist(t *testing.T) {
	lines := regexp.MustCompile("`gslbctl ([a-z][^`]*)`")
	control, tried := binaries(t).Control, map[string]string{}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".md" || strings.Contains(path, "/integration/") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range lines.FindAllStringSubmatch(string(text), -1) {
			words, flags := strings.Fields(m[1]), regexp.MustCompile(`--[a-z-]+`).FindAllString(m[1], -1)
			if at := slices.IndexFunc(words, func(w string) bool { return !regexp.MustCompile(`^[a-z][a-z-]*$`).MatchString(w) }); at >= 0 {
				words = words[:at]
			}
			line := strings.Join(words, " ")
			usage, there := tried[line]
			if !there {
				r := command(t, append(append([]string{control}, words...), "--help")...)
				usage, tried[line] = r.output, r.output
			}
			// What is no command of gslbctl is taken for an argument of the one before, whose own usage line is then shown.
			if !strings.Contains(usage, "gslbctl "+line) {
				t.Errorf("%s: there is no gslbctl %s", path, line)
			}
			for _, flag := range flags {
				if !strings.Contains(usage, flag) {
					t.Errorf("%s: gslbctl %s has no %s", path, line, flag)
				}
			}
		}
		return err
	})
	if err != nil || len(tried) < 10 {
		t.Errorf("%d commands tried: %v", len(tried), err)
	}
}
