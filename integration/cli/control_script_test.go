package cli_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"gslb.internal/integration/harness/testbed"
)

// inTurn makes scripts run sequentially, because they share a cluster.
type inTurn struct{ *testing.T }

func (t inTurn) Parallel()     {}
func (t inTurn) Verbose() bool { return testing.Verbose() }
func (t inTurn) Run(name string, f func(testscript.T)) {
	t.T.Run(name, func(t *testing.T) { f(inTurn{t}) })
}

var update = flag.Bool("update", false, "write the expected output of the scripts")

// This test runs the scripts in testdata/gslbctl, each with two nodes, two backends and their agents. -update writes
// the expected output.
func TestControl_Scripts(t *testing.T) {
	t.Parallel()
	scripts, err := filepath.Glob("testdata/gslbctl/*.txtar")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	s := startSite(t, 2, 2)
	for _, n := range s.Nodes {
		testbed.Until(t, testbed.StartBound, n.Name+" to have heard and checked all", func(ctx context.Context) error {
			stats, err := n.Client.Stats(ctx)
			if err == nil && (stats.ActiveAgents < len(s.Agents) || stats.ValidatedBackends < len(s.Backends)) {
				err = fmt.Errorf("%+v", stats)
			}
			return err
		})
	}
	bin := testbed.ProgramsTogether(t)
	testscript.RunT(inTurn{t}, testscript.Params{
		Files:               scripts,
		RequireExplicitExec: true,
		WorkdirRoot:         t.TempDir(), // removed even if -run selects some of the scripts
		UpdateScripts:       *update,
		Setup: func(e *testscript.Env) error {
			e.Setenv("PATH", bin+string(os.PathListSeparator)+e.Getenv("PATH"))
			e.Setenv("HOME", e.WorkDir)
			e.Setenv(testbed.RunMark, os.Getenv(testbed.RunMark))
			for i, n := range s.Nodes {
				e.Setenv(fmt.Sprintf("NODE%d", i+1), n.API.String())
				e.Setenv(fmt.Sprintf("DNS%d", i+1), n.DNS.String())
				e.Setenv(fmt.Sprintf("CONFIG%d", i+1), n.Path)
			}
			for i, b := range s.Backends {
				e.Setenv(fmt.Sprintf("BACKEND%d", i+1), b.At.String())
				e.Setenv(fmt.Sprintf("BACKEND%d_IP", i+1), b.At.Addr().String())
			}
			e.Setenv("GSLB_API", s.Nodes[0].API.String()+","+s.Nodes[1].API.String())
			e.Setenv("GSLB_DNS", s.Nodes[0].DNS.String()+","+s.Nodes[1].DNS.String())
			for _, name := range []string{"FREE_DNS", "FREE_GOSSIP", "FREE_API", "FREE_DNS2", "FREE_GOSSIP2", "FREE_API2",
				"FREE_METRICS", "FREE_METRICS2"} {
				e.Setenv(name, testbed.UnusedAddress(t))
			}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"plain": s.plain, "eventually": eventually, "keep": keep, "valid": valid,
		},
	})
}

// Parts of the output that differ between runs.
var (
	ages      = regexp.MustCompile(`\b(\d+[smhd])+( ago)?\b`)
	latencies = regexp.MustCompile(`\b\d+\.\d ms`)
	versions  = regexp.MustCompile(`(?m)(^|\s)\d+\.\d+\.\d+(?:-[0-9A-Za-z.]+)*(\s|$)`)
	hashes    = regexp.MustCompile(`sha256:[0-9a-f]{64}`)
	blanks    = regexp.MustCompile(`  +`)
)

// plain FILE: writes standard output of the last command to a file without the parts that differ between runs.
func (s *site) plain(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: plain file")
	}
	text := ts.ReadFile("stdout")
	for i, n := range s.Nodes {
		text = strings.ReplaceAll(text, n.API.String(), fmt.Sprintf("NODE%d", i+1))
		text = strings.ReplaceAll(text, n.DNS.String(), fmt.Sprintf("DNS%d", i+1))
	}
	for i, b := range s.Backends {
		text = strings.ReplaceAll(text, b.At.String(), fmt.Sprintf("BACKEND%d", i+1))
	}
	for with, pattern := range map[string]*regexp.Regexp{"AGE": ages, "LATENCY": latencies, "${1}VERSION${2}": versions,
		"FINGERPRINT": hashes} {
		text = pattern.ReplaceAllString(text, with)
	}
	text = blanks.ReplaceAllString(text, "  ")
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o600))
}

// keep NAME: stores standard output of the last command in an environment variable.
func keep(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: keep name")
	}
	ts.Setenv(args[0], strings.TrimSpace(ts.ReadFile("stdout")))
}

// eventually CODE COMMAND: repeats a command until it ends with the exit code. Agreement of nodes on keys takes
// longest.
func eventually(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: eventually code command args...")
	}
	var said string
	ctx, cancel := context.WithTimeout(context.Background(), testbed.Hang)
	defer cancel()
	for range testbed.Every(ctx, 200*time.Millisecond) {
		err := ts.Exec(args[1], args[2:]...)
		said = ts.ReadFile("stdout") + ts.ReadFile("stderr")
		code := "0"
		if err != nil {
			code = strings.TrimPrefix(err.Error(), "exit status ")
		}
		if code == args[0] {
			return
		}
	}
	ts.Fatalf("%v did not end with %s within %s; it says:\n%s", args[1:], args[0], testbed.Hang, said)
}

// valid FILE: requires a valid configuration. It ignores used or privileged ports, which depend on this machine.
func valid(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: valid file")
	}
	if err := ts.Exec("gslbctl", "config", "validate", args[0]); err == nil {
		return
	}
	for line := range strings.Lines(ts.ReadFile("stdout") + ts.ReadFile("stderr")) {
		if !machines.MatchString(line) {
			ts.Fatalf("%s: %s", args[0], line)
		}
	}
}

// machines matches the lines of a validation that depend on this machine instead of the file, and the number of
// problems.
var machines = regexp.MustCompile(
	`: another process has (tcp|udp) port |: this user may not listen on port |: \d+ problems? in the configuration`)
