package expiry_test

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/control/expiry"
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
	log, err := audit.Open(audit.Options{Store: kept, Retention: time.Hour,
		Logger: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	return kept, log
}

// An expired override is removed from the disk and recorded in the audit log. An override that has replaced it stays.
func TestExpired_ThatHasExpiredIsForgottenAndToldOf(t *testing.T) {
	kept, log := open(t)
	past, later := time.Now().Add(-time.Minute), time.Now().Add(time.Hour)
	for address, ends := range map[string]*time.Time{"192.0.2.1": &past, "192.0.2.2:80": &later, "[2001:db8::3]:80": nil} {
		if err := kept.PutOrder(store.Order{Kind: api.OrderOverride, Service: service, Address: address, Reason: "flaky",
			ExpiresAt: ends}); err != nil {
			t.Fatal(err)
		}
	}
	queue := log.NewQueue()
	l := expiry.New(kept, queue)
	for _, at := range []string{"192.0.2.1:0", "192.0.2.2:80", "[2001:db8::3]:80"} {
		endpoint := netip.MustParseAddrPort(at)
		l.Expired(registry.AdminState{Kind: api.OrderOverride, Service: service, Address: endpoint.Addr(),
			Port: endpoint.Port(), Reason: "flaky", ExpiresAt: past})
	}
	queue.Flush()
	left, err := kept.LoadOrders()
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

// The start of a window is recorded in the audit log and in the store. A window that has replaced it has not begun.
func TestBegan_IsKeptAndToldOf(t *testing.T) {
	kept, log := open(t)
	at := time.Now().UTC().Truncate(time.Millisecond)
	later := at.Add(time.Hour)
	for address, starts := range map[string]*time.Time{"192.0.2.1:80": &at, "192.0.2.2:80": &later} {
		if err := kept.PutOrder(store.Order{Kind: api.OrderWeight, Service: service, Address: address, Weight: 3,
			StartsAt: starts}); err != nil {
			t.Fatal(err)
		}
	}
	queue := log.NewQueue()
	l := expiry.New(kept, queue)
	for _, address := range []string{"192.0.2.1:80", "192.0.2.2:80"} {
		endpoint := netip.MustParseAddrPort(address)
		l.Began(registry.AdminState{Kind: api.OrderWeight, Service: service, Address: endpoint.Addr(), Port: endpoint.Port(),
			Weight: 3, StartsAt: at, IsActive: true})
	}
	queue.Flush()
	list, err := kept.LoadOrders()
	if err != nil || len(list) != 2 || !list[0].Begun || list[1].Begun {
		t.Errorf("stored: %+v %v", list, err)
	}
	for e, err := range log.Newest(audit.Changes) {
		if err != nil || e.Action != api.AuditBegin || e.Resource != "server" || e.ActorType != api.ActorSystem ||
			e.ResourceID != service+":192.0.2.2:80" || !strings.Contains(string(e.After), `"weight":3`) {
			t.Errorf("%+v %v", e, err)
		}
		break
	}
}
