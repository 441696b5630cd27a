package restore_test

import (
	"net/netip"
	"reflect"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/health/restore"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/check"
)

// All that is saved of a backend, each field with a value of its own, is what a restart begins with.
func TestStatuses_AreRestoredAsTheyWereSaved(t *testing.T) {
	kept, err := store.Open(t.TempDir(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { kept.Close() })
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	saved := registry.Remembered{
		ID:      registry.ID{Service: "app.gslb.test", Address: netip.MustParseAddr("192.0.2.1"), Port: 80},
		Healthy: true, Unknown: true, Latency: 7 * time.Millisecond, At: noon, LastHealthyAt: noon.Add(1 * time.Second),
		CreatedAt: noon.Add(-time.Hour),
		AgentID:   "eu-web-1", AgentSourced: true, Weight: 3, Region: "eu",
		Check: check.Spec{Type: check.TCP, Interval: time.Second, Timeout: time.Second / 2, FailureThreshold: 4,
			SuccessThreshold: 5},
		HeardAt:         netip.MustParseAddr("192.0.2.9"),
		AgentDrainSince: noon.Add(3 * time.Second), AgentDrainOver: 30 * time.Second,
		HeldSince: noon.Add(4 * time.Second), WarningHeldSince: noon.Add(5 * time.Second),
	}
	for kind := range saved.Bleeds {
		each := time.Duration(kind + 1)
		saved.Bleeds[kind] = registry.Bleed{Over: each * time.Minute, Depth: each * time.Second,
			Since: noon.Add(each * time.Hour), Ended: kind%2 == 0}
	}
	for fields, i := reflect.ValueOf(saved), 0; i < fields.NumField(); i++ {
		if name := fields.Type().Field(i).Name; name != "Gone" && fields.Field(i).IsZero() {
			t.Errorf("the test has no value for %s", name)
		}
	}
	if err := (restore.Statuses{kept}).SaveStatuses([]registry.Remembered{saved}); err != nil {
		t.Fatal(err)
	}
	restored, _, err := restore.Backends(kept, zerolog.Nop())
	if err != nil || len(restored) != 1 || !reflect.DeepEqual(restored[0], saved) {
		t.Errorf("%+v (%v), want %+v", restored, err, saved)
	}
}
