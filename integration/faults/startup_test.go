package faults_test

import (
	"context"
	"errors"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/testbed"
)

// ends starts a node that cannot run, and checks that it exits soon with a message that contains all the words.
func ends(t *testing.T, s *testbed.Site, p interface{ Start() error }, u *harness.Unit, words ...string) {
	t.Helper()
	testbed.Start(t, p)
	testbed.Ends(t, u, testbed.Patience)
	if err := testbed.Said(u, words...); err != nil {
		t.Error(err)
	}
	if err := testbed.Said(u, "goroutine "); err == nil {
		t.Error("it ended with a stack trace")
	}
}

// If another process uses the port of any listener, the start of a node fails with the address.
//
// Fault 35: A port is in use, the process may not bind port 53, or the machine has no IPv6. The start fails with
// exit code 1 or 2 and the address.
func TestStartup_PortInUseIsToldByItsAddress(t *testing.T) {
	for _, listener := range []string{"dns tcp", "dns udp", "gossip tcp", "gossip udp", "api tcp", "metrics tcp"} {
		t.Run(listener, func(t *testing.T) {
			s := testbed.NewSite(t, 1, 0)
			n := s.Nodes[0]
			what, network, _ := strings.Cut(listener, " ")
			at := map[string]*string{
				"dns": &n.File.DNS.ListenAddress, "gossip": &n.File.Overwatch.Gossip.BindAddress,
				"api": &n.File.API.Address, "metrics": &n.File.Metrics.Address,
			}[what]
			*at = occupy(t, network)
			ends(t, s, n, n.Unit, *at, "in use")
		})
	}
}

// occupy uses a port until the test ends.
func occupy(t *testing.T, network string) string {
	t.Helper()
	if network == "tcp" {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		return l.Addr().String()
	}
	c, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c.LocalAddr().String()
}

// A data_dir that cannot be created or written is reported with its path, for both roles.
//
// Fault 15.
func TestStartup_UnwritableDataDirIsToldByItsPath(t *testing.T) {
	// No directory can be created below a file, not even by root.
	dir := filepath.Join(testbed.File(t, "file", ""), "data")
	t.Run("overwatch", func(t *testing.T) {
		s := testbed.NewSite(t, 1, 0)
		s.Nodes[0].File.DataDir = dir
		ends(t, s, s.Nodes[0], s.Nodes[0].Unit, dir, "data_dir")
	})
	t.Run("agent", func(t *testing.T) {
		s := testbed.NewSite(t, 1, 1)
		s.Agents[0].File.DataDir = dir
		ends(t, s, s.Agents[0], s.Agents[0].Unit, dir, "data_dir")
	})
}

// A second process on the data_dir of a running process exits with a clear message, and the first process continues.
//
// Fault 15.
func TestStartup_SecondProcessOnADataDirIsRefused(t *testing.T) {
	s := testbed.NewSite(t, 2, 1)
	first, second := s.Nodes[0], s.Nodes[1]
	testbed.Start(t, s.Backends[0])
	testbed.Start(t, first)
	s.Ready(t, first)
	second.File.DataDir = first.File.DataDir
	ends(t, s, second, second.Unit, first.File.DataDir, "in use")
	s.Ready(t, first)
}

// An agent with a key or certificate that is missing, damaged, foreign or open to others reports the file and exits. It
// creates no new identity and leaves the files unchanged. With the restored files, it has its previous identity.
//
// Fault 17: The key or certificate of an agent is damaged, missing or foreign. The agent reports the file and
// creates no new identity.
func TestStartup_DamagedAgentIdentityIsToldAndKept(t *testing.T) {
	t.Parallel()
	s := testbed.NewSite(t, 1, 2)
	n, a, other := s.Nodes[0], s.Agents[0], s.Agents[1]
	s.StartAll(t)
	pins := s.Pins(t, n)
	for _, agent := range s.Agents {
		testbed.Stop(t, agent)
	}
	crt, key := filepath.Join(a.File.DataDir, "agent.crt"), filepath.Join(a.File.DataDir, "agent.key")
	files := func() map[string]string {
		all := contents(t, a.File.DataDir)
		maps.DeleteFunc(all, func(path, _ string) bool { return path != crt && path != key })
		return all
	}
	whole := files()
	theirs := func(name string) func([]byte) []byte {
		return func([]byte) []byte {
			return []byte(contents(t, other.File.DataDir)[filepath.Join(other.File.DataDir, name)])
		}
	}
	kinds := map[string]func(path string) error{
		"missing":            os.Remove,
		"open to the others": func(path string) error { return os.Chmod(path, 0o644) },
		"no identity": func(path string) error {
			return os.WriteFile(path, []byte("-----BEGIN NOTHING-----\n"),
				0o600)
		},
		"another's": func(path string) error { spoil(t, path, theirs(filepath.Base(path))); return nil },
	}
	for what, damage := range damages {
		kinds[what] = func(path string) error { spoil(t, path, damage); return nil }
	}
	for _, path := range []string{crt, key} {
		for what, damage := range kinds {
			if path == crt && what == "open to the others" {
				continue // not a secret
			}
			s.Story.Event("%s is %s", path, what)
			if err := damage(path); err != nil {
				t.Fatal(err)
			}
			damaged, started := files(), time.Now()
			ends(t, s, a, a.Unit)
			if !slices.ContainsFunc(a.Output(), func(l harness.Line) bool {
				return l.At.After(started) &&
					strings.Contains(l.Text, path)
			}) {
				t.Errorf("%s is %s, and nothing that the agent says names it", path, what)
			}
			if now := files(); !maps.Equal(now, damaged) {
				t.Errorf("%s is %s: the start changed files", path, what)
			}
			for path, content := range whole {
				if err := errors.Join(os.WriteFile(path, []byte(content), 0o600), os.Chmod(path, 0o600)); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	testbed.Start(t, a)
	testbed.Start(t, other)
	began := time.Now()
	s.Status(t, n, s.Backends[0], testbed.ReconnectBound, testbed.SoundSince(began))
	if now := s.Pins(t, n); !maps.Equal(now, pins) {
		t.Errorf("the agents are pinned as %v, they were as %v", now, pins)
	}
}

// A node that is started by hand immediately logs the reason for a wait: the signing keys of an unreachable node, or
// the backends of its domains. It answers DNS without them.
func TestStartup_SaysWhatItWaitsFor(t *testing.T) {
	t.Parallel()
	s := testbed.NewSite(t, 1, 0)
	n := s.Nodes[0]
	n.File.Overwatch.DNSSEC.KeySync = &harness.KeySync{Peers: []string{"http://127.0.0.1:1"}, PollInterval: time.Hour,
		Timeout: time.Second, Secret: harness.NewToken()}
	testbed.Start(t, n)
	for _, words := range [][]string{
		{"waiting for the signing keys of the other nodes", "http://127.0.0.1:1", "10"},
		{"waiting for backends of these domains", testbed.AppName, "fallback answer"},
	} {
		testbed.Until(t, testbed.StartBound, words[0], func(context.Context) error { return testbed.Said(n.Unit, words...) })
	}
	s.Ready(t, n)
}
