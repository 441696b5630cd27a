package integration_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// What a role's program does besides running is the same by the launcher's name; what the other role does is refused by name.
func TestLauncher_DoesWhatTheRolesProgramsDo(t *testing.T) {
	t.Parallel()
	s := newSite(t, 1, 1)
	start(t, s.nodes[0])
	s.ready(t, s.nodes[0])
	a := s.agents[0]
	for _, program := range []string{binaries(t).Agent, binaries(t).Launcher} {
		t.Run(filepath.Base(program), func(t *testing.T) {
			start(t, a)
			until(t, startBound, "--status to find the agent connected", func(context.Context) error {
				r := command(t, program, "--config", a.Path, "--status")
				if r.code != exitOK || !strings.Contains(r.output, "connected by udp") {
					return errors.New(r.output)
				}
				return nil
			})
			command(t, program, "--config", a.Path, "--reset-identity").want(t, exitFailure, "in use")
			if err := a.Stop(); err != nil {
				t.Fatal(err)
			}
			command(t, program, "--config", a.Path, "--status").want(t, exitFailure, "no agent runs")
		})
	}
	certificate := filepath.Join(filepath.Dir(a.Path), "data", "agent.crt")
	command(t, binaries(t).Launcher, "--config", a.Path, "--reset-identity").want(t, exitOK, "agent.crt", "agent.key", "unpin")
	if _, err := os.Stat(certificate); !os.IsNotExist(err) {
		t.Errorf("%s: %v, want it gone", certificate, err)
	}
	n := s.nodes[0]
	command(t, binaries(t).Launcher, "--config", n.Path, "--reset-identity").want(t, exitFailure, "--reset-identity", "mode: overwatch")
	for _, program := range []string{binaries(t).Overwatch, binaries(t).Launcher} {
		command(t, program, "--config", n.Path, "--status").want(t, exitOK, "answers over udp", "answers over tcp")
	}
	if err := n.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	command(t, binaries(t).Overwatch, "--config", n.Path, "--status").want(t, exitFailure, "TROUBLE", "over udp", "the node is not well")
	if err := errors.Join(n.Signal(syscall.SIGCONT), n.Stop()); err != nil {
		t.Fatal(err)
	}
	command(t, binaries(t).Launcher, "--config", n.Path, "--status").want(t, exitFailure, "no node runs with data_dir "+n.File.DataDir)
}
