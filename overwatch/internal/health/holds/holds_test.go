package holds_test

import (
	"context"
	"encoding/json"
	"net/netip"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/health/holds"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/state/audit"
)

func idOf(octet byte) registry.ID {
	return registry.ID{Service: "app.gslb.test", Address: netip.AddrFrom4([4]byte{192, 0, 2, octet}), Port: 80}
}

// The node checks held backends, and only these. The audit log contains start and end, except for the end by an
// operator, which the API records. A check that hangs delays no other check.
func TestWorker_ChecksHeldBackendsAndWritesHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		since := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
		state := registry.HoldState{Service: "app.gslb.test", Since: since, Until: since.Add(10 * time.Minute)}
		var written []audit.Change
		f := holds.New(func(c audit.Change) { written = append(written, c) }, zerolog.Nop())
		checked := make(chan []registry.ID, 9)
		check := func(ctx context.Context, wants func(registry.ID) bool) ([]registry.CheckResult, error) {
			var ids []registry.ID
			for octet := range byte(5) {
				if wants(idOf(octet)) {
					ids = append(ids, idOf(octet))
				}
			}
			checked <- ids
			<-ctx.Done() // it hangs
			return nil, ctx.Err()
		}
		ctx, end := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- f.Run(ctx, check) }()
		f.CheckBackend(idOf(1))
		f.CheckBackend(idOf(3))
		f.RecordChange(registry.HoldChange{HoldState: state, Began: true, Backends: []registry.ID{idOf(1), idOf(3)}})
		synctest.Wait()
		f.CheckBackend(idOf(4))
		f.RecordChange(registry.HoldChange{HoldState: state, Backends: []registry.ID{idOf(1)}})
		synctest.Wait()
		var all []registry.ID
		for range len(checked) {
			all = append(all, <-checked...)
		}
		slices.SortFunc(all, registry.ID.Compare)
		if !slices.Equal(all, []registry.ID{idOf(1), idOf(3), idOf(4)}) {
			t.Errorf("checked %v", all)
		}
		f.RecordChange(registry.HoldChange{HoldState: state, EndReason: "over"})
		end()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if len(written) != 2 || written[0].Action != "hold" || written[1].Action != "release" {
			t.Fatalf("written %+v", written)
		}
		for i, want := range []string{
			`{"service":"app.gslb.test","concern":"unhealthy","since":"2026-03-01T12:00:00Z",` +
				`"until":"2026-03-01T12:10:00Z","backends":["app.gslb.test:192.0.2.1:80","app.gslb.test:192.0.2.3:80"]}`,
			`{"service":"app.gslb.test","concern":"unhealthy","since":"2026-03-01T12:00:00Z",` +
				`"until":"2026-03-01T12:10:00Z","backends":[],"reason":"over"}`,
		} {
			text, err := json.Marshal([]any{written[0].After, written[1].Before}[i])
			if err != nil || string(text) != want || written[i].ResourceID != "app.gslb.test" ||
				written[i].Actor != audit.ActorNode {
				t.Errorf("%s, %v", text, err)
			}
		}
	})
}
