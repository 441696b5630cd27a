package agent // inside: it uses certificateFile, expiryWarning and keyFile

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"gslb.internal/shared/api"
	"gslb.internal/shared/logging/logtest"
)

// Fault 22.
func TestExpiry_IsToldInTimeOnceADay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &logtest.Buffer{}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- watchExpiry(ctx, time.Now().Add(70*24*time.Hour), zerolog.New(log)) }()
		pass := func(days int) {
			time.Sleep(time.Duration(days)*24*time.Hour + time.Minute)
			synctest.Wait()
		}
		pass(9)
		if log.String() != "" {
			t.Errorf("61 days before: %s", log.String())
		}
		pass(10)
		if n := strings.Count(log.String(), "expires soon"); n < 8 || n > 10 {
			t.Errorf("told %d times in 10 days:\n%s", n, log.String())
		}
		before := len(log.String())
		pass(60)
		if text := log.String()[before:]; !strings.Contains(text, "has expired") ||
			!strings.Contains(text, "--reset-identity") {
			t.Errorf("after the end:\n%s", text)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// The agent warns as early as the nodes warn in their API, metrics and runbook.
//
// Fault 22.
func TestExpiry_AgentAndNodesWarnAlike(t *testing.T) {
	if expiryWarning != api.DefaultExpiringDays*24*time.Hour {
		t.Errorf("the agent warns %s before the end, nodes %d days", expiryWarning, api.DefaultExpiringDays)
	}
}

func TestResetIdentity_DeletesBothHalvesUnlessTheAgentRuns(t *testing.T) {
	s := newSite(t)
	r := s.start(t)
	s.scrape(t, "gslb_build_info")
	var out bytes.Buffer
	if err := ResetIdentity(s.config, &out); err == nil || !strings.Contains(err.Error(), "is in use by another agent") {
		t.Errorf("beside a running agent: %v", err)
	}
	if err := r.end(t); err != nil {
		t.Fatal(err)
	}
	if err := ResetIdentity(s.config, &out); err != nil || !strings.Contains(out.String(), "delete the agent's pin") {
		t.Errorf("%v: %s", err, out.String())
	}
	for _, name := range []string{certificateFile, keyFile} {
		if _, err := os.Stat(filepath.Join(s.dataDir, name)); !os.IsNotExist(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	out.Reset()
	if err := ResetIdentity(s.config, &out); err != nil || !strings.Contains(out.String(), "no identity") {
		t.Errorf("again: %v: %s", err, out.String())
	}
}
