package harness

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// Options are the inputs of NewCluster.
type Options struct {
	Binaries Binaries
	Timing   Timing
	Domains  []Domain // each with a separate token
}

// Cluster is a set of programs with their files in a temporary directory, and the story of their events.
type Cluster struct {
	Dir       string
	Story     *Story
	Timing    Timing
	GossipKey string            // fresh, base64
	Tokens    map[string]string // token by service

	binaries Binaries
	domains  []Domain
	env      []string

	mu    sync.Mutex
	units []*Unit
}

// NewCluster creates the directory, key and tokens of a cluster without programs.
func NewCluster(o Options) (*Cluster, error) {
	dir, err := os.MkdirTemp("", "gslb-cluster-")
	if err != nil {
		return nil, fmt.Errorf("directory of the cluster: %w", err)
	}
	c := &Cluster{
		Dir: dir, Story: newStory(), Timing: o.Timing, GossipKey: NewGossipKey(), Tokens: map[string]string{},
		binaries: o.Binaries, domains: o.Domains, env: environment(),
	}
	for _, d := range o.Domains {
		c.Tokens[d.Name] = NewToken()
	}
	return c, nil
}

// Close stops all programs, first by SIGTERM, and removes the directory. Agents stop before the other programs, so that
// nodes receive their goodbye messages. The error lists the killed programs. Close may be called repeatedly.
func (c *Cluster) Close() error {
	c.mu.Lock()
	units := slices.Clone(c.units)
	c.mu.Unlock()
	agents := slices.DeleteFunc(slices.Clone(units), func(u *Unit) bool { return !u.agent })
	return errors.Join(closeAll(agents), closeAll(units), os.RemoveAll(c.Dir))
}

// closeAll ends programs at the same time. It ignores programs that have ended.
func closeAll(units []*Unit) error {
	errs := make([]error, len(units))
	var group sync.WaitGroup
	for i, u := range units {
		group.Go(func() { errs[i] = u.close() })
	}
	group.Wait()
	return errors.Join(errs...)
}

// NewGossipKey returns a new gossip key in the format of the configuration: 32 bytes in base64.
func NewGossipKey() string {
	key := make([]byte, 32)
	rand.Read(key)
	return base64.StdEncoding.EncodeToString(key)
}

// NewToken returns a new service token of more than the recommended 32 characters.
func NewToken() string {
	return rand.Text() + rand.Text()
}

// environment returns the environment of this process without GSLB_ variables, which would configure a gslb program.
func environment() []string {
	return slices.DeleteFunc(os.Environ(), func(kv string) bool { return strings.HasPrefix(kv, "GSLB_") })
}

func sortedKeys[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}

// directory creates a private directory for the files of a program.
func (c *Cluster) directory(name string) (string, error) {
	dir := filepath.Join(c.Dir, name)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", fmt.Errorf("directory of %s: %w", name, err)
	}
	return dir, nil
}
