package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"text/tabwriter"
	"time"

	"github.com/rs/zerolog"

	"gslb.internal/agent/internal/config"
	"gslb.internal/agent/internal/datadir"
	"gslb.internal/agent/internal/report"
	"gslb.internal/shared/identity"
	"gslb.internal/shared/wire"
)

// A running agent writes statusFile for --status, every statusEvery.
const (
	statusFile  = "agent.status"
	statusEvery = 2 * time.Second
)

// status is the content of statusFile: the state of an agent.
type status struct {
	At          time.Time       `json:"at"`
	AgentID     string          `json:"agent_id"`
	Fingerprint string          `json:"fingerprint"`
	NotAfter    time.Time       `json:"not_after"`
	Backends    []backendStatus `json:"backends"`
	Nodes       []nodeStatus    `json:"nodes"`
}

type backendStatus struct {
	ID        string `json:"id"`
	State     string `json:"state"`
	LastError string `json:"last_error,omitzero"`
	Warnings  bool   `json:"warnings,omitzero"`
	Draining  bool   `json:"draining,omitzero"`
}

type nodeStatus struct {
	Address   string   `json:"address"`
	NodeID    string   `json:"node_id,omitzero"`
	Connected bool     `json:"connected"`
	Path      string   `json:"path"`
	LastError string   `json:"last_error,omitzero"`
	Duplicate bool     `json:"duplicate,omitzero"`
	Rejects   []string `json:"rejects,omitzero"`
}

// takeStatus returns the current state.
func takeStatus(id *identity.Identity, backends []wire.Backend, nodes []report.NodeState, now time.Time) status {
	s := status{At: now.UTC(), AgentID: id.CommonName, Fingerprint: id.KeyID.Fingerprint(), NotAfter: id.NotAfter.UTC()}
	for _, b := range backends {
		state := b.Claim.String()
		if b.Claim == wire.ClaimNone {
			state = "unknown"
		}
		s.Backends = append(s.Backends, backendStatus{
			ID: backendID(&b), State: state, LastError: b.LastError,
			Warnings: b.Warnings != (wire.Warnings{}), Draining: b.Draining,
		})
	}
	for _, n := range nodes {
		one := nodeStatus{Address: n.Address, NodeID: n.NodeID, Connected: n.Connected, Path: n.Path, LastError: n.LastError,
			Duplicate: n.Duplicate}
		for _, r := range n.Rejects {
			one.Rejects = append(one.Rejects, r.String())
		}
		s.Nodes = append(s.Nodes, one)
	}
	return s
}

// keepStatus writes the result of take for --status until ctx ends. It logs the first write failure only, because the
// agent does not need the file.
func keepStatus(ctx context.Context, dataDir string, take func() status, logger zerolog.Logger) error {
	ticker := time.NewTicker(statusEvery)
	defer ticker.Stop()
	told := false
	for {
		if err := writeStatus(dataDir, take()); err != nil && !told {
			told = true
			logger.Warn().Err(err).Msg("what --status shows could not be written")
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// writeStatus replaces the file atomically.
func writeStatus(dataDir string, s status) error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	path := filepath.Join(dataDir, statusFile)
	if err := os.WriteFile(path+".new", text, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// statusStale is the age after which a status file is outdated: the agent hangs, or cannot write the file.
const statusStale = 15 * statusEvery

// errUnwell means that the agent does not work correctly. Status has written the reasons.
var errUnwell = errors.New("the agent is not well")

// Status writes the state of the agent with a configuration to out. It returns an error if the agent is not running, if
// it has not written its state for statusStale, or if no overwatch node accepts its messages.
func Status(configPath string, out io.Writer) error {
	cfg, err := config.Load(configPath)
	if err != nil {
		return err
	}
	if !datadir.InUse(cfg.DataDir) {
		return fmt.Errorf("no agent runs with data_dir %s", cfg.DataDir)
	}
	text, err := os.ReadFile(filepath.Join(cfg.DataDir, statusFile))
	if errors.Is(err, fs.ErrNotExist) {
		return errors.New("the agent has just started: retry in a few seconds")
	}
	if err != nil {
		return err
	}
	var s status
	if err := json.Unmarshal(text, &s); err != nil {
		return fmt.Errorf("%s: %w", filepath.Join(cfg.DataDir, statusFile), err)
	}
	return s.print(out, time.Now())
}

// print writes s as text.
func (s *status) print(out io.Writer, now time.Time) error {
	fmt.Fprintf(out, "agent %s, certificate %s until %s\nas of %s ago\n\n", s.AgentID, s.Fingerprint,
		s.NotAfter.Format(time.DateOnly), now.Sub(s.At).Round(time.Second))
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, b := range s.Backends {
		fmt.Fprintf(table, "backend %s\t%s%s%s\t%s\n", b.ID, b.State, mark(b.Warnings, ", warns"),
			mark(b.Draining, ", drains"), b.LastError)
	}
	connected := 0
	for _, n := range s.Nodes {
		state := "not connected"
		if n.Connected {
			connected++
			state = "connected by " + n.Path
		}
		fmt.Fprintf(table, "node %s %s\t%s\t%s\n", n.Address, n.NodeID, state, n.LastError)
		if n.Duplicate {
			fmt.Fprint(table, "  reports\tanother process uses this agent's identity: data_dir was copied\t\n")
		}
		for _, r := range n.Rejects {
			fmt.Fprintf(table, "  refuses\t%s\t\n", r)
		}
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if age := now.Sub(s.At).Round(time.Second); age > statusStale {
		return fmt.Errorf("%w: it wrote this %s ago, and does so every %s: it hangs, or cannot write to its data_dir",
			errUnwell, age, statusEvery)
	}
	if connected == 0 {
		return fmt.Errorf("%w: no overwatch node accepts its reports", errUnwell)
	}
	return nil
}

func mark(yes bool, text string) string {
	if yes {
		return text
	}
	return ""
}
