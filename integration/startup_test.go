package integration_test

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gslb.internal/integration/harness"
)

// ends starts a node that cannot run and checks that it ends soon, with a message that has all the words.
func (s *site) ends(t *testing.T, p interface{ Start() error }, u *harness.Unit, words ...string) {
	t.Helper()
	start(t, p)
	until(t, commandBound, u.Name+" to end", func(context.Context) error {
		if u.Running() {
			return errors.New("it still runs")
		}
		return nil
	})
	if err := said(u, words...); err != nil {
		t.Error(err)
	}
	if err := said(u, "goroutine "); err == nil {
		t.Error("it ended with a stack trace")
	}
}

// Each listener of a node whose port somebody else has ends the start with a message that names the address.
func TestStartup_PortInUseIsToldByItsAddress(t *testing.T) {
	for _, listener := range []string{"dns tcp", "dns udp", "gossip tcp", "gossip udp", "api tcp", "metrics tcp"} {
		t.Run(listener, func(t *testing.T) {
			s := newSite(t, 1, 0)
			n := s.nodes[0]
			what, network, _ := strings.Cut(listener, " ")
			at := map[string]*string{
				"dns": &n.File.DNS.ListenAddress, "gossip": &n.File.Overwatch.Gossip.BindAddress,
				"api": &n.File.API.Address, "metrics": &n.File.Metrics.Address,
			}[what]
			*at = occupy(t, network)
			s.ends(t, n, n.Unit, *at, "in use")
		})
	}
}

// occupy takes a port until the test ends.
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

// A data_dir that cannot be made or written is told by its path, for both roles.
func TestStartup_UnwritableDataDirIsToldByItsPath(t *testing.T) {
	// Below a file no directory can be made, not even by root.
	dir := filepath.Join(file(t, "file", ""), "data")
	t.Run("overwatch", func(t *testing.T) {
		s := newSite(t, 1, 0)
		s.nodes[0].File.DataDir = dir
		s.ends(t, s.nodes[0], s.nodes[0].Unit, dir, "data_dir")
	})
	t.Run("agent", func(t *testing.T) {
		s := newSite(t, 1, 1)
		s.agents[0].File.DataDir = dir
		s.ends(t, s.agents[0], s.agents[0].Unit, dir, "data_dir")
	})
}

// A second process on the data_dir of a running one ends with a clear message, and the first goes on.
func TestStartup_SecondProcessOnADataDirIsRefused(t *testing.T) {
	s := newSite(t, 2, 1)
	first, second := s.nodes[0], s.nodes[1]
	start(t, s.backends[0])
	start(t, first)
	s.ready(t, first)
	second.File.DataDir = first.File.DataDir
	s.ends(t, second, second.Unit, first.File.DataDir, "in use")
	s.ready(t, first)
}

// A half-present or damaged identity is told by its file, never replaced by a new one in silence (row 17).
func TestStartup_DamagedAgentIdentityIsToldAndKept(t *testing.T) {
	t.Parallel()
	for _, damage := range []string{"agent.key missing", "agent.crt missing", "agent.key damaged", "agent.crt damaged"} {
		t.Run(damage, func(t *testing.T) {
			s := newSite(t, 1, 1)
			a := s.agents[0]
			start(t, a)
			crt, key := filepath.Join(a.File.DataDir, "agent.crt"), filepath.Join(a.File.DataDir, "agent.key")
			until(t, startBound, "the agent's identity", func(context.Context) error {
				_, missing := os.Stat(crt)
				_, also := os.Stat(key)
				return errors.Join(missing, also)
			})
			if err := a.Stop(); err != nil {
				t.Fatal(err)
			}
			name, how, _ := strings.Cut(damage, " ")
			path := filepath.Join(a.File.DataDir, name)
			if how == "missing" {
				if err := os.Remove(path); err != nil {
					t.Fatal(err)
				}
			} else {
				write(t, path, 0o600, "-----BEGIN NOTHING-----\n")
			}
			s.ends(t, a, a.Unit, path)
		})
	}
}
