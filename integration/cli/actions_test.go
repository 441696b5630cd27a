package cli_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"gslb.internal/integration/harness/testbed"
)

// The actions of a role's program are the same with the launcher. The launcher rejects the actions of the other role by
// name.
func TestLauncher_DoesWhatTheRolesProgramsDo(t *testing.T) {
	t.Parallel()
	s := newSite(t, 1, 1)
	testbed.Start(t, s.Nodes[0])
	s.Ready(t, s.Nodes[0])
	a := s.Agents[0]
	for _, program := range []string{testbed.Binaries(t).Agent, testbed.Binaries(t).Launcher} {
		t.Run(filepath.Base(program), func(t *testing.T) {
			testbed.Start(t, a)
			testbed.Until(t, testbed.StartBound, "--status to find the agent connected", func(context.Context) error {
				r := testbed.Command(t, program, "--config", a.Path, "--status")
				if r.Code != testbed.ExitOK || !strings.Contains(r.Output, "connected by udp") {
					return errors.New(r.Output)
				}
				return nil
			})
			testbed.Command(t, program, "--config", a.Path, "--reset-identity").Want(t, testbed.ExitFailure, "in use")
			testbed.Stop(t, a)
			testbed.Command(t, program, "--config", a.Path, "--status").Want(t, testbed.ExitFailure, "no agent runs")
		})
	}
	certificate := filepath.Join(filepath.Dir(a.Path), "data", "agent.crt")
	testbed.Command(t, testbed.Binaries(t).Launcher, "--config", a.Path, "--reset-identity").Want(t, testbed.ExitOK,
		"agent.crt", "agent.key", "unpin")
	if _, err := os.Stat(certificate); !os.IsNotExist(err) {
		t.Errorf("%s: %v, want it gone", certificate, err)
	}
	n := s.Nodes[0]
	testbed.Command(t, testbed.Binaries(t).Launcher, "--config", n.Path, "--reset-identity").Want(t, testbed.ExitFailure,
		"--reset-identity", "mode: overwatch")
	for _, program := range []string{testbed.Binaries(t).Overwatch, testbed.Binaries(t).Launcher} {
		testbed.Command(t, program, "--config", n.Path, "--status").Want(t, testbed.ExitOK, "answers over udp",
			"answers over tcp")
	}
	testbed.Signal(t, n, syscall.SIGSTOP)
	testbed.Command(t, testbed.Binaries(t).Overwatch, "--config", n.Path, "--status").Want(t, testbed.ExitFailure,
		"TROUBLE", "over udp", "the node is not well")
	if err := errors.Join(n.Signal(syscall.SIGCONT), n.Stop()); err != nil {
		t.Fatal(err)
	}
	testbed.Command(t, testbed.Binaries(t).Launcher, "--config", n.Path, "--status").Want(t, testbed.ExitFailure,
		"no node runs with data_dir "+n.File.DataDir)
}
