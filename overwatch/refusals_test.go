package overwatch

import (
	"context"
	"fmt"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/state/audit"
	"gslb.internal/shared/wire"
)

// An agent that repeats itself makes one entry an hour, many agents a bounded number, and what is ordinary none.
func TestRefusals_AreBoundedInTheAuditLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		entries := make(chan audit.Change, 1000)
		r := newRefusals(func(c audit.Change) error { entries <- c; return nil }, zerolog.Nop())
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- r.run(ctx) }()
		from, backend := netip.MustParseAddr("::ffff:192.0.2.1"), netip.MustParseAddr("192.0.2.7")
		say := func(agent string, c wire.RefusedClaim) {
			r.note(from, agent, c)
			synctest.Wait()
		}
		count := func() (n int) {
			for ; len(entries) > 0; n++ {
				<-entries
			}
			return n
		}
		foreign := wire.RefusedClaim{Service: "b.example", Code: wire.CodeWrongToken}
		for range 3 {
			say("a1", foreign)
		}
		if c := <-entries; c.ResourceID != "a1" || c.ActorIP != "192.0.2.1" || c.Err == nil || c.Err.Error() != "refused: wrong_token, service b.example" {
			t.Errorf("%+v", c)
		}
		say("a1", wire.RefusedClaim{Service: "a.example", Address: backend, Port: 80, Code: wire.CodeConflictingClaim})
		say("a1", wire.RefusedClaim{Service: "a.example", Address: backend, Port: 80, Code: wire.CodeNotEnrolled})
		if n := count(); n != 2 {
			t.Errorf("%d entries about a backend, want 2", n)
		}
		for _, code := range []wire.RejectCode{wire.CodeBootNonce, wire.CodeNotEnrolled, wire.CodeUnavailable, wire.CodeVersion} {
			say("a1", wire.RefusedClaim{Code: code})
		}
		if n := count(); n != 0 {
			t.Errorf("%d entries about what is ordinary", n)
		}
		for i := range 500 {
			say(fmt.Sprint("made up ", i), foreign)
		}
		if n := count(); n != refusalsPerHour-3 {
			t.Errorf("%d entries in the rest of the hour, want %d", n, refusalsPerHour-3)
		}
		time.Sleep(time.Hour)
		say("a1", foreign)
		if n := count(); n != 1 {
			t.Errorf("%d entries in the next hour, want 1", n)
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
