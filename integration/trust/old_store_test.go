package trust_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

// oldStore is the store of a node of commit b1a12e4 that had taken an agent's 64 patterns of 225 000 instructions:
// it died of them at every start. makeOldStore names the variable that has it made anew, by the programs of
// GSLB_BIN.
const (
	oldStore     = "testdata/patterns-of-b1a12e4.db.gz"
	makeOldStore = "GSLB_MAKE_OLD_STORE"
)

// A store that an earlier version has written, with patterns that this version takes from no agent, is judged by the
// rules of this version when it is restored: what it holds costs nothing, and the backends are there.
func TestPattern_OfAnOlderStoreTakesNoMemory(t *testing.T) {
	s := newStand(t)
	const token = "the token that the node of that store knew" // another would take the pin's services away
	s.Tokens[evilName], s.node.File.Overwatch.AgentTokens[evilName] = token, token
	path := filepath.Join(s.node.File.DataDir, "gslb.db")
	if os.Getenv(makeOldStore) != "" {
		s.start(t)
		s.reports(t, s.pinned(t, "evil", evilName), bombs())
		testbed.Saved()
		testbed.Stop(t, s.node)
		packStore(t, path)
		return
	}
	unpackStore(t, path)
	s.node.File.Overwatch.Stale.RemoveAfter = 10 * 365 * 24 * time.Hour // the most there is: the store is as old as it is
	s.start(t)
	begin := time.Now()
	s.staysSound(t, "with the store of b1a12e4")
	s.good(t, begin)
	until(t, "the backends of the store", func(ctx context.Context) error {
		list, err := s.node.Client.Backends(ctx, api.BackendFilter{Service: evilName})
		if err == nil && len(list.Backends) == 0 {
			err = errors.New("there are none")
		}
		return err
	})
	agents, err := s.node.Client.Agents(t.Context())
	if err != nil || agents.Total != 1 || agents.Agents[0].AgentID != "evil" {
		t.Errorf("the agent that did it is not shown: %+v (%v)", agents, err)
	}
}

func unpackStore(t *testing.T, path string) {
	t.Helper()
	packed, err := os.ReadFile(oldStore)
	if err != nil {
		t.Fatal(err)
	}
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(r)
	if err = errors.Join(err, os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, plain, 0o600)); err != nil {
		t.Fatal(err)
	}
}

func packStore(t *testing.T, path string) {
	t.Helper()
	plain, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.Write(plain)
	err = errors.Join(err, w.Close(), os.MkdirAll(filepath.Dir(oldStore), 0o755), os.WriteFile(oldStore,
		packed.Bytes(), 0o644))
	if err != nil {
		t.Fatal(err)
	}
}
