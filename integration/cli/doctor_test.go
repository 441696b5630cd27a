package cli_test

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/testbed"
)

// The doctor examines a running node without disturbing it. It prints findings with remedies, and its exit code is 1
// exactly if a finding is a trouble. The findings about the machine (clock, limits) depend on the machine.
func TestDoctor_FindsWhatIsWrongAndChangesNothing(t *testing.T) {
	t.Parallel()
	s := newSite(t, 1, 1)
	n := s.Nodes[0]
	nobody, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer nobody.Close()
	wrong := "http://" + nobody.Addr().String() // takes connections and never answers
	s.StartAll(t)
	programs := []string{testbed.Binaries(t).Overwatch, testbed.Binaries(t).Launcher}
	for _, program := range programs {
		t.Run(filepath.Base(program), func(t *testing.T) {
			r := testbed.Command(t, program, "doctor", "--config", n.Path)
			troubles := strings.Count(r.Output, "TROUBLE")
			want := testbed.ExitOK
			if troubles > 0 {
				want = testbed.ExitFailure
			}
			r.Want(t, want, "ok", "configuration", "is valid", "answers over udp", "answers over tcp", "clock", "data_dir")
			for line := range strings.Lines(r.Output) {
				if strings.Contains(line, "TROUBLE") && (strings.Contains(line, " node ") || strings.Contains(line, " data_dir ")) {
					t.Errorf("a node that is well: %s", line)
				}
			}
		})
	}
	s.NoFailures(t, n, s.Began)

	n.File.Overwatch.DNSSEC.KeySync = &harness.KeySync{
		Peers: []string{wrong}, PollInterval: testbed.SyncPoll, Timeout: n.File.Overwatch.Validation.CheckTimeout,
		Secret: "a secret of the nodes, in more than 32 characters",
	}
	n.File.Overwatch.Geolocation.DatabasePath = testbed.File(t, "cities.mmdb", "not a database")
	testbed.Rewrite(t, n)
	testbed.Command(t, programs[0], "doctor", "--config", n.Path).Want(t, testbed.ExitFailure,
		"TROUBLE", "peer", wrong+" does not answer", "geolocation", "cities.mmdb", "damaged or not an MMDB", "-> ",
		"in trouble")

	broken := testbed.File(t, "overwatch.yaml", brokenOverwatch)
	testbed.Command(t, programs[0], "doctor", "--config", broken).Want(t, testbed.ExitBadInput, "default_tll", "fastest")
	testbed.Command(t, programs[0], "doctor", "--config", broken+".yaml").Want(t, testbed.ExitBadInput, broken+".yaml")
	n.File.Overwatch.DNSSEC.KeySync = nil // each look at a peer that does not answer takes some seconds
	testbed.Rewrite(t, n)
	before := testbed.Read(t, n.Path)
	testbed.Stop(t, n)
	testbed.Command(t, programs[0], "doctor", "--config", n.Path).Want(t, testbed.ExitFailure, "does not run now")
	if after, err := os.ReadFile(n.Path); err != nil || string(after) != before {
		t.Errorf("the configuration was changed: %v", err)
	}
}

// The doctor is only for nodes. The error of the launcher contains this.
func TestDoctor_OfAnAgentIsRefusedByName(t *testing.T) {
	a := newSite(t, 1, 1).Agents[0]
	testbed.Start(t, a)
	testbed.Command(t, testbed.Binaries(t).Launcher, "doctor", "--config", a.Path).Want(t, testbed.ExitFailure, "doctor",
		"mode: overwatch", a.Path, "mode: agent")
	testbed.Command(t, testbed.Binaries(t).Agent, "doctor", "--config", a.Path).Want(t, testbed.ExitBadInput, "doctor")
}
