package integration_test

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gslb.internal/integration/harness"
)

// The doctor looks at a node that runs without disturbing it, says what is well and what is not, with what to do, and its exit code tells
// scripts the same: 1 if and only if something is in trouble. What it finds of the machine (clock, limits) is the machine's.
func TestDoctor_FindsWhatIsWrongAndChangesNothing(t *testing.T) {
	t.Parallel()
	s := newSite(t, 1, 1)
	n := s.nodes[0]
	nobody, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer nobody.Close()
	wrong := "http://" + nobody.Addr().String() // takes connections and never answers
	s.startAll(t)
	programs := []string{binaries(t).Overwatch, binaries(t).Launcher}
	for _, program := range programs {
		t.Run(filepath.Base(program), func(t *testing.T) {
			r := command(t, program, "doctor", "--config", n.Path)
			troubles := strings.Count(r.output, "TROUBLE")
			want := exitOK
			if troubles > 0 {
				want = exitFailure
			}
			r.want(t, want, "ok", "configuration", "is valid", "answers over udp", "answers over tcp", "clock", "data_dir")
			for line := range strings.Lines(r.output) {
				if strings.Contains(line, "TROUBLE") && (strings.Contains(line, " node ") || strings.Contains(line, " data_dir ")) {
					t.Errorf("a node that is well: %s", line)
				}
			}
		})
	}
	s.noFailures(t, n, s.began)

	n.File.Overwatch.DNSSEC.KeySync = &harness.KeySync{
		Peers: []string{wrong}, PollInterval: syncPoll, Timeout: n.File.Overwatch.Validation.CheckTimeout, Secret: "a secret of the nodes, in more than 32 characters",
	}
	n.File.Overwatch.Geolocation.DatabasePath = file(t, "cities.mmdb", "not a database")
	rewrite(t, n)
	command(t, programs[0], "doctor", "--config", n.Path).want(t, exitFailure,
		"TROUBLE", "peer", wrong+" does not answer", "geolocation", "cities.mmdb", "damaged or not an MMDB", "-> ", "in trouble")

	broken := file(t, "overwatch.yaml", brokenOverwatch)
	command(t, programs[0], "doctor", "--config", broken).want(t, exitBadInput, "default_tll", "fastest")
	command(t, programs[0], "doctor", "--config", broken+".yaml").want(t, exitBadInput, broken+".yaml")
	n.File.Overwatch.DNSSEC.KeySync = nil // each look at a peer that does not answer takes some seconds
	rewrite(t, n)
	before, err := os.ReadFile(n.Path)
	if err != nil {
		t.Fatal(err)
	}
	if err := n.Stop(); err != nil {
		t.Fatal(err)
	}
	command(t, programs[0], "doctor", "--config", n.Path).want(t, exitFailure, "does not run now")
	if after, err := os.ReadFile(n.Path); err != nil || string(after) != string(before) {
		t.Errorf("the configuration was changed: %v", err)
	}
}

// The doctor is for nodes: the launcher says so by name.
func TestDoctor_OfAnAgentIsRefusedByName(t *testing.T) {
	a := newSite(t, 1, 1).agents[0]
	start(t, a)
	command(t, binaries(t).Launcher, "doctor", "--config", a.Path).want(t, exitFailure, "doctor", "mode: overwatch", a.Path, "mode: agent")
	command(t, binaries(t).Agent, "doctor", "--config", a.Path).want(t, exitBadInput, "doctor")
}
