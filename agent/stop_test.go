package agent // inside: it uses farewell

import (
	"context"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"gslb.internal/agent/internal/config"
	"gslb.internal/agent/internal/report"
	"gslb.internal/shared/logging/logtest"
)

// stopper is the part of report.Reporter that a farewell uses.
type stopper struct {
	drained, handedOver bool
}

func (s *stopper) Nodes() []report.NodeState { return []report.NodeState{{Connected: true}} }
func (s *stopper) ReportDrain()              { s.drained = true }
func (s *stopper) HandOver()                 { s.handedOver = true }

// The table of farewell.wait.
func TestFarewell_FollowsItsTable(t *testing.T) {
	for _, row := range []struct {
		when                  config.DrainOnStop
		restart               bool
		drains, leavesSilence bool
	}{
		{config.DrainAuto, false, true, false}, {config.DrainAuto, true, false, true},
		{config.DrainAlways, false, true, false}, {config.DrainAlways, true, true, false},
		{config.DrainNever, false, false, false}, {config.DrainNever, true, false, true},
	} {
		s := &stopper{}
		handover := make(chan os.Signal, 1)
		asked, ask := context.WithCancel(t.Context())
		f := &farewell{outlook: &outlook{}, reporter: s, when: row.when, over: time.Millisecond, handover: handover,
			logger: zerolog.Nop()}
		if row.restart {
			handover <- syscall.SIGUSR2
		} else {
			ask()
		}
		f.wait(asked, t.Context())
		ask()
		if s.drained != row.drains || s.handedOver != row.leavesSilence {
			t.Errorf("%s, restart %v: %+v", row.when, row.restart, s)
		}
	}
}

// SIGUSR2 ends the agent, although drain_time has not passed.
func TestRun_StopsForARestartWithoutADrain(t *testing.T) {
	s := newSite(t)
	text, err := os.ReadFile(s.config)
	if err != nil {
		t.Fatal(err)
	}
	longer := strings.Replace(string(text), "drain_time: 0s", "drain_time: 10m", 1)
	if err := os.WriteFile(s.config, []byte(longer), 0o600); err != nil {
		t.Fatal(err)
	}
	r := s.start(t)
	s.scrape(t, "gslb_build_info")
	waitFor(t, r.log, "agent started")
	if err := syscall.Kill(os.Getpid(), syscall.SIGUSR2); err != nil {
		t.Fatal(err)
	}
	if err := r.wait(t); err != nil || !strings.Contains(r.log.String(), "stopping for a restart") {
		t.Errorf("%v\n%s", err, r.log)
	}
}

// waitFor returns when the log contains a text.
func waitFor(t *testing.T, log *logtest.Buffer, text string) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !strings.Contains(log.String(), text); {
		if time.Now().After(deadline) {
			t.Fatalf("the log does not contain %q:\n%s", text, log)
		}
	}
}
