package expiry_test

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/health/expiry"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/state/audit"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
)

const service = "app.gslb.test"

func open(t *testing.T) (*store.Store, *audit.Log) {
	t.Helper()
	kept, err := store.Open(t.TempDir(), store.Options{Logger: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = kept.Close() })
	log, err := audit.Open(audit.Options{Store: kept, Refusals: kept.Refusals(), Retention: time.Hour, Logger: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	return kept, log
}

// finish lets a log write what waits.
func finish(t *testing.T, l *expiry.Log) {
	t.Helper()
	over, end := context.WithCancel(t.Context())
	end()
	if err := l.Run(over); err != nil {
		t.Fatal(err)
	}
}

// An override that has expired is gone from the disk and in the audit log. Another one that has replaced it stays.
func TestOverride_ThatHasExpiredIsForgottenAndToldOf(t *testing.T) {
	kept, log := open(t)
	past, later := time.Now().Add(-time.Minute), time.Now().Add(time.Hour)
	for address, ends := range map[string]*time.Time{"192.0.2.1": &past, "192.0.2.2:80": &later, "[2001:db8::3]:80": nil} {
		if err := kept.PutOverride(store.Override{Service: service, Address: address, Reason: "flaky",
			ExpiresAt: ends}); err != nil {
			t.Fatal(err)
		}
	}
	l := expiry.New(kept, log, zerolog.Nop())
	for _, at := range []string{"192.0.2.1:0", "192.0.2.2:80", "[2001:db8::3]:80"} {
		endpoint := netip.MustParseAddrPort(at)
		l.Override(registry.Override{Service: service, Address: endpoint.Addr(), Port: endpoint.Port(), Reason: "flaky",
			ExpiresAt: past})
	}
	finish(t, l)
	left, err := kept.LoadOverrides()
	if err != nil || len(left) != 2 || left[0].Address == "192.0.2.1" || left[1].Address == "192.0.2.1" {
		t.Errorf("stored: %+v %v", left, err)
	}
	var told []string
	for e, err := range log.Oldest(audit.Changes) {
		if err != nil {
			t.Fatal(err)
		}
		told = append(told, e.ResourceID)
		if e.Action != api.AuditExpire || e.Resource != "override" || e.ActorType != api.ActorSystem ||
			e.Status != api.AuditSuccess || !strings.Contains(string(e.Before), "flaky") || string(e.After) != "null" {
			t.Errorf("%+v", e)
		}
	}
	if got := strings.Join(told, ", "); got != "app.gslb.test 192.0.2.1, app.gslb.test 192.0.2.2:80, "+
		"app.gslb.test [2001:db8::3]:80" {
		t.Errorf("told of %s", got)
	}
}

// What the disk does not take is written later, in order.
func TestNote_TriesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, log := open(t)
		l := expiry.New(nil, log, zerolog.Nop())
		var working atomic.Bool
		var forgotten []string
		for _, name := range []string{"a", "b"} {
			l.Note(expiry.Ended{Resource: "override", ResourceID: name, Forget: func(store.Entry) error {
				if !working.Load() {
					return errors.New("the disk is full")
				}
				forgotten = append(forgotten, name)
				return nil
			}})
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- l.Run(ctx) }()
		synctest.Wait()
		working.Store(true)
		time.Sleep(time.Minute)
		synctest.Wait()
		if strings.Join(forgotten, "") != "ab" {
			t.Errorf("forgotten: %v", forgotten)
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
