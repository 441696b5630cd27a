package harness // inside: it uses listen, localhost and writeFile

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"
)

// newTestCluster returns a cluster without gslb programs; tests run ordinary commands in it.
func newTestCluster(t *testing.T) *Cluster {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir())
	c, err := NewCluster(Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func TestUnit_OutputIsInTheStoryAndInTheLog(t *testing.T) {
	c := newTestCluster(t)
	u := c.newUnit("echo", []string{"sh", "-c", "echo out; echo err >&2; exit 3"})
	if err := u.Start(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	err := Until(ctx, "it to serve", func(context.Context) error {
		if err := u.alive(); err != nil {
			return err
		}
		return errors.New("it does not")
	})
	if err == nil || ctx.Err() != nil || !strings.Contains(err.Error(), "its last words: err") {
		t.Errorf("waiting for a program that has ended: %v", err)
	}
	log, err := os.ReadFile(u.Log)
	if err != nil || string(log) != "out\nerr\n" {
		t.Errorf("the log has %q (%v)", log, err)
	}
}

func TestUnit_StopIsPoliteThenFirm(t *testing.T) {
	c := newTestCluster(t)
	polite := c.newUnit("polite", []string{"sh", "-c",
		"trap 'echo bye; exit 0' TERM; echo up; while :; do sleep 0.01; done"})
	if err := polite.Start(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := Until(ctx, "it to be up", func(context.Context) error {
		if len(polite.Output()) == 0 {
			return errors.New("silent")
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := polite.Stop(); err != nil {
		t.Error(err)
	}
	if lines := polite.Output(); lines[len(lines)-1].Text != "bye" {
		t.Errorf("it printed %v", lines)
	}
	if polite.Running() {
		t.Error("it still runs")
	}
	if err := polite.Start(); err != nil {
		t.Errorf("starting it again: %v", err)
	}
	if err := polite.Start(); err == nil {
		t.Error("it was started twice at once")
	}
}

func TestPorts_AreHeldUntilReleased(t *testing.T) {
	r, err := Reserve([]netip.Addr{localhost}, "tcp", "udp")
	if err != nil {
		t.Fatal(err)
	}
	at := r.On(localhost).String()
	for _, network := range []string{"tcp", "udp"} {
		if c, err := listen(network, at); err == nil {
			c.Close()
			t.Errorf("%s %s is free although it is reserved", network, at)
		}
	}
	r.Release()
	l, err := net.Listen("tcp", at)
	if err != nil {
		t.Fatalf("after release: %v", err)
	}
	l.Close()
}

func TestCluster_CloseRemovesFilesAndFreesPorts(t *testing.T) {
	c := newTestCluster(t)
	n, err := c.AddNode("ow-1", "eu", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := writeFile(n.Path, n.File); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(n.Path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the configuration has secrets and mode %v (%v)", info.Mode(), err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(c.Dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is still there", c.Dir)
	}
	l, err := net.Listen("tcp", n.API.String())
	if err != nil {
		t.Fatalf("a port of a closed cluster: %v", err)
	}
	l.Close()
}
