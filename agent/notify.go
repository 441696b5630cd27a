package agent

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"gslb.internal/agent/internal/config"
	"gslb.internal/agent/internal/datadir"
	"gslb.internal/shared/command"
	"gslb.internal/shared/durable"
	"gslb.internal/shared/wire"
)

// noticesName is the name of the file in data_dir with which --notify sends drains to the agent. It survives a restart
// of the agent. Other users can read it, because a hook of a service manager runs as root.
const noticesName = "agent.draining"

// maxNotices is the maximum size of the file in octets. It is sufficient for all backends of an agent.
const maxNotices = 1 << 20

// notices are the backends that drain by --notify.
type notices struct {
	All      bool     `json:"all,omitempty"`
	Backends []string `json:"backends,omitempty"` // ids, in ascending order
}

// has reports whether a backend drains.
func (n *notices) has(b *wire.Backend) bool {
	if n.All {
		return true
	}
	_, found := slices.BinarySearch(n.Backends, backendID(b))
	return found
}

// backendID returns the id of a backend in the format of the API.
func backendID(b *wire.Backend) string {
	return b.Service + ":" + b.Address.String() + ":" + strconv.Itoa(int(b.Port))
}

// loadNotices returns the notices of a file, which are empty if the file is missing.
func loadNotices(path string) (*notices, error) {
	n := new(notices)
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return n, nil
	}
	if err != nil {
		return n, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxNotices+1))
	if err != nil {
		return n, err
	}
	if len(text) > maxNotices {
		return n, fmt.Errorf("%s has more than %d octets: delete it, then repeat the notification", path, maxNotices)
	}
	if err := json.Unmarshal(text, n); err != nil {
		return new(notices), fmt.Errorf("%s: %w: delete it, then repeat the notification", path, err)
	}
	slices.Sort(n.Backends)
	return n, nil
}

// store replaces the file, or deletes it if there are no notices.
func (n *notices) store(path string) error {
	if !n.All && len(n.Backends) == 0 {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	text, err := json.Marshal(n)
	if err != nil {
		return err
	}
	return durable.WriteFile(path, text, 0o644)
}

// noticeFile detects changes of the file. It belongs to a single goroutine.
type noticeFile struct {
	path    string
	changed time.Time
	size    int64
}

// hasChanged reports whether the file differs from the previous call.
func (f *noticeFile) hasChanged() bool {
	var changed time.Time
	var size int64
	if info, err := os.Stat(f.path); err == nil {
		changed, size = info.ModTime(), info.Size()
	}
	different := !changed.Equal(f.changed) || size != f.size
	f.changed, f.size = changed, size
	return different
}

// readNotices applies a change of the notices to the outlook and reports whether there was a change. If it cannot read
// the file, the current drains remain.
func (r *reload) readNotices() bool {
	if !r.notices.hasChanged() {
		return false
	}
	n, err := loadNotices(r.notices.path)
	if err != nil {
		r.logger.Error().Err(err).Msg("the notices of --notify cannot be read: the drains stay as they are")
		return false
	}
	r.view.notices.Store(n)
	r.logger.Info().Bool("all", n.All).Strs("backends", n.Backends).Msg("drains by --notify changed")
	return true
}

// notification is the command --notify.
type notification struct {
	state   string
	backend string
	wait    bool
}

// The states that an application reports.
const (
	noticeDraining = "draining"
	noticeReady    = "ready"
)

func notifyAction() command.Action {
	n := new(notification)
	return command.Action{
		Flag: "notify", Value: "draining|ready",
		Summary: "drain before the application stops, and end the drain when it serves (--backend ID: one backend; " +
			"--wait: until the drain ends)",
		Flags: func(f *flag.FlagSet) {
			f.StringVar(&n.state, "notify", "", "")
			f.StringVar(&n.backend, "backend", "", "")
			f.BoolVar(&n.wait, "wait", false, "")
		},
		Do: n.do,
	}
}

// do stores the notice for the agent with a configuration. With wait, it returns after the drain.
func (n *notification) do(configPath string, out io.Writer) error {
	cfg, err := config.Load(configPath)
	if err != nil {
		return err
	}
	if n.state != noticeDraining && n.state != noticeReady {
		return fmt.Errorf("--notify %q: use draining or ready", n.state)
	}
	path := filepath.Join(cfg.DataDir, noticesName)
	now, err := loadNotices(path)
	if err != nil {
		return err
	}
	subject := "all backends of agent " + cfg.Agent.Identity.AgentID
	if n.backend != "" {
		subject = "backend " + n.backend
		if err := knownBackend(cfg, n.backend); err != nil {
			return err
		}
	}
	if err := now.change(n.state == noticeDraining, n.backend); err != nil {
		return err
	}
	if err := now.store(path); err != nil {
		return fmt.Errorf("data_dir %s cannot be written to (%w): run the command as root or as the user of the agent",
			cfg.DataDir, err)
	}
	running := datadir.InUse(cfg.DataDir)
	fmt.Fprintf(out, "%s: %s\n", subject, n.state)
	if !running {
		fmt.Fprintf(out, "no agent runs with data_dir %s: the state takes effect with its next start\n", cfg.DataDir)
	}
	if n.wait && running && n.state == noticeDraining {
		fmt.Fprintf(out, "waiting %s for the drain\n", cfg.Agent.DrainTime)
		time.Sleep(cfg.Agent.DrainTime + readInterval)
	}
	return nil
}

// change adds or removes a backend, or all backends if id is empty.
func (n *notices) change(drains bool, id string) error {
	switch at, found := slices.BinarySearch(n.Backends, id); {
	case id == "":
		*n = notices{All: drains}
	case n.All && !drains:
		return errors.New("all backends of the agent drain: use --notify ready without --backend, then drain the others")
	case drains && !found && !n.All:
		n.Backends = slices.Insert(n.Backends, at, id)
	case !drains && found:
		n.Backends = slices.Delete(n.Backends, at, at+1)
	}
	return nil
}

// knownBackend returns an error unless the agent has a backend: in its configuration, or, for backends of files and
// host names, in the status of the running agent.
func knownBackend(cfg *config.Config, id string) error {
	var known []string
	for _, b := range monitored(cfg.Agent.Backends) {
		known = append(known, b.String())
	}
	var s status
	if text, err := os.ReadFile(filepath.Join(cfg.DataDir, statusFile)); err == nil && json.Unmarshal(text, &s) == nil {
		for _, b := range s.Backends {
			known = append(known, b.ID)
		}
	}
	if slices.Contains(known, id) {
		return nil
	}
	slices.Sort(known)
	return fmt.Errorf("--backend %q: the agent has no such backend, it has %s", id,
		strings.Join(slices.Compact(known), ", "))
}
