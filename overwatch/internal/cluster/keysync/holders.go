package keysync

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"gslb.internal/overwatch/internal/health/trust"
	"gslb.internal/shared/durable"
)

// maxHolders is the maximum number of stored token sets, the latest sets. Each change of a token creates a set.
const maxHolders = 64

// Holders records in a file which agents have known all tokens of a set. After the pin of such an agent is deleted and
// the node has restarted, the agent still knows the tokens. Holders is safe for concurrent use.
type Holders struct {
	path    string
	changed chan struct{} // contains a token after a set was added

	mu     sync.Mutex
	known  []holder
	damage error // the file could not be read
}

// holder is an agent that has known all tokens of a set.
type holder struct {
	Set   string `json:"token_set"` // in hexadecimal digits
	Agent string `json:"agent_id"`
}

// HoldersFile returns the path of the file in a data directory that Holders uses.
func HoldersFile(dataDir string) string { return filepath.Join(dataDir, "token-holders.json") }

// OpenHolders reads the file at path, which may be missing. If the file is unreadable, OpenHolders assumes that an
// agent knows every set.
func OpenHolders(path string) *Holders {
	h := &Holders{path: path, changed: make(chan struct{}, 1)}
	switch content, err := os.ReadFile(path); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		h.damage = err
	default:
		if err := json.Unmarshal(content, &h.known); err != nil {
			h.damage = fmt.Errorf("%s cannot be read: %w", path, err)
		}
	}
	return h
}

// Note records that an agent knows all tokens of a set. After a write error, only this process has the record.
func (h *Holders) Note(set trust.TokenSet, agent string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	name := hex.EncodeToString(set[:])
	if slices.ContainsFunc(h.known, func(k holder) bool { return k.Set == name }) {
		return nil
	}
	h.known = append(h.known, holder{name, agent})
	h.known = h.known[max(0, len(h.known)-maxHolders):]
	select {
	case h.changed <- struct{}{}:
	default:
	}
	if h.damage != nil {
		return nil // the file remains for an operator
	}
	content, err := json.Marshal(h.known)
	if err == nil {
		err = durable.WriteFile(h.path, append(content, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("writing %s, which records that agent %s knows all service tokens: %w", h.path, agent, err)
	}
	return nil
}

// holderOf returns an agent that has known all tokens of a set, or "" if no such agent is recorded. It then returns an
// error if the file could not be read.
func (h *Holders) holderOf(set trust.TokenSet) (agent string, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	name := hex.EncodeToString(set[:])
	for _, k := range h.known {
		if k.Set == name {
			return k.Agent, nil
		}
	}
	return "", h.damage
}
