package store // inside: it uses copyDelay, copyEvery and copyName

import (
	"bytes"
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"gslb.internal/shared/api"
	"gslb.internal/shared/check"
	"gslb.internal/shared/model"
)

// open opens a store in dir and closes it when the test ends.
func open(t testing.TB, dir string) *Store {
	t.Helper()
	s, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// closed closes a store before the end of the test.
func closed(t testing.TB, s *Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func testPin(id string) Pin {
	return Pin{
		AgentID: id, CertificateDER: []byte("certificate of " + id), Region: "eu-west", Version: "1.2.3",
		Services: []PinnedService{{Name: "app.gslb.test", TokenMark: [16]byte{1, 2},
			ProvedAt: time.Unix(1700000000, 5).UTC()}},
		FirstSeen: time.Unix(1700000000, 0).UTC(),
	}
}

func putPins(t testing.TB, s *Store, n int) {
	t.Helper()
	for i := range n {
		if err := s.PutPin(testPin("agent-" + strconv.Itoa(i))); err != nil {
			t.Fatal(err)
		}
	}
}

func loadPins(t testing.TB, s *Store) []Pin {
	t.Helper()
	pins, err := s.LoadPins()
	if err != nil {
		t.Fatal(err)
	}
	return pins
}

func TestPins_SurviveReopening(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	revoked := testPin("b")
	revoked.Revoked, revoked.RevokedAt, revoked.RevokedReason = true, time.Unix(1700000100, 0).UTC(), "stolen"
	for _, p := range []Pin{testPin("c"), revoked, testPin("a"), testPin("d")} {
		if err := s.PutPin(p); err != nil {
			t.Fatal(err)
		}
	}
	changed := testPin("c")
	changed.Region = "us-east"
	if err := errors.Join(s.PutPin(changed), s.DeletePin("d"), s.DeletePin("never there")); err != nil {
		t.Fatal(err)
	}
	closed(t, s)
	s = open(t, dir)
	if got, want := loadPins(t, s), []Pin{testPin("a"), revoked, changed}; !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if s.Recovered() != "" {
		t.Errorf("recovered from nothing: %s", s.Recovered())
	}
}

func TestOverrides_SurviveReopening(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	end := time.Unix(1800000000, 0).UTC()
	a := Order{Kind: api.OrderOverride, Service: "a.test", Address: "192.0.2.1:80", Healthy: true,
		Reason: "known good", Source: "api",
		CreatedAt: time.Unix(1700000000, 0).UTC(), CreatedBy: "127.0.0.1", ExpiresAt: &end}
	b := Order{Kind: api.OrderOverride, Service: "a.test", Address: "192.0.2.1", Reason: "maintenance"}
	if err := errors.Join(s.PutOrder(a), s.PutOrder(b),
		s.PutOrder(Order{Kind: api.OrderOverride, Service: "b.test", Address: "192.0.2.1"}),
		s.DeleteOrder(api.OrderOverride, "b.test", "192.0.2.1")); err != nil {
		t.Fatal(err)
	}
	closed(t, s)
	got, err := open(t, dir).LoadOrders()
	if err != nil {
		t.Fatal(err)
	}
	if want := []Order{b, a}; !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestStatuses_SurviveReopening(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	at := time.UnixMilli(1700000000123).UTC()
	plain := Status{Service: "a.test", Address: netip.MustParseAddr("2001:db8::1"), Port: 443, Unknown: true, At: at}
	full := Status{
		Service: "a.test", Address: netip.MustParseAddr("192.0.2.1"), Port: 80, Healthy: true,
		Latency: 1500 * time.Microsecond,
		At:      at, LastHealthyAt: at.Add(-time.Minute), CreatedAt: at.Add(-time.Hour),
		AgentID: "eu-web-1", AgentSourced: true, Weight: 100, Region: "eu",
		Check: check.Spec{Type: check.HTTPS, Path: "/healthz", Host: "a.test",
			Address:  netip.MustParseAddr("127.0.0.1"),
			Interval: 5 * time.Second, Timeout: time.Second, FailureThreshold: 3, SuccessThreshold: 2, ServerName: "a"},
		HeardAt:         netip.MustParseAddr("192.0.2.9"),
		AgentDrainSince: at, AgentDrainOver: time.Minute, AgentLeftAt: at.Add(time.Hour),
		HeldSince: at.Add(time.Second), WarningHeldSince: at.Add(time.Minute),
		Bleeds: [3]Bleed{1: {Over: time.Minute, Depth: time.Second, Since: at, Ended: true}},
	}
	for fields, i := reflect.ValueOf(full), 0; i < fields.NumField(); i++ {
		if name := fields.Type().Field(i).Name; name != "Gone" && name != "Unknown" && fields.Field(i).IsZero() {
			t.Errorf("the test has no value for %s", name)
		}
	}
	gone := Status{Service: "b.test", Address: netip.MustParseAddr("192.0.2.1"), Port: 80, Healthy: true}
	before := full
	before.Healthy = false
	if err := s.SaveStatuses([]Status{gone, plain, before}); err != nil {
		t.Fatal(err)
	}
	gone.Gone = true
	never := Status{Service: "c.test", Address: netip.MustParseAddr("192.0.2.1"), Port: 80, Gone: true}
	if err := s.SaveStatuses([]Status{gone, never, full}); err != nil {
		t.Fatal(err)
	}
	closed(t, s)
	got, err := open(t, dir).LoadStatuses()
	if err != nil {
		t.Fatal(err)
	}
	if want := []Status{full, plain}; !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestWrites_AtTheSameTimeAllArrive(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	var all sync.WaitGroup
	for i := range 64 {
		all.Go(func() {
			if err := s.PutPin(testPin("agent-" + strconv.Itoa(i))); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	closed(t, s)
	if got := loadPins(t, open(t, dir)); len(got) != 64 {
		t.Errorf("%d pins", len(got))
	}
}

// Fault 15.
func TestOpen_FilesAreForTheOwnerOnly(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	s := open(t, dir)
	putPins(t, s, 1)
	closed(t, s)
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("directory: %v, %v", info.Mode(), err)
	}
	for _, name := range []string{fileName, copyName, lockName} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v", name, info.Mode())
		}
	}
}

// Fault 15.
func TestOpen_SecondTimeIsAClearError(t *testing.T) {
	dir := t.TempDir()
	open(t, dir)
	_, err := Open(dir, Options{})
	if !errors.Is(err, ErrInUse) {
		t.Fatalf("error is %v", err)
	}
	for _, want := range []string{dir, "in use by another gslb process", "process " + strconv.Itoa(os.Getpid())} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not say %q", err, want)
		}
	}
}

func TestRun_CopiesSoonAfterAChangeAndNotForEachOfABurst(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := open(t, dir)
		go s.Run(t.Context())
		time.Sleep(copyDelay + copyEvery + time.Second) // virtual: the first copy is behind us
		putPins(t, s, 3)
		time.Sleep(copyDelay / 2)
		synctest.Wait()
		if n := pinsInCopy(t, dir); n != 0 {
			t.Errorf("%d pins in the copy before its time", n)
		}
		time.Sleep(copyDelay)
		synctest.Wait()
		if n := pinsInCopy(t, dir); n != 3 {
			t.Errorf("%d pins in the copy, 3 were stored", n)
		}
	})
}

// A node that starts from the copy uses the statuses in the copy.
func TestRun_StatusesAreInTheCopyAfterAWhile(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := open(t, dir)
		go s.Run(t.Context())
		time.Sleep(copyDelay + copyEvery + time.Second) // virtual: the first copy is behind us
		for round := range 3 {
			status := Status{Service: "a.example", Address: netip.MustParseAddr("10.0.0.1"), Port: 80, Weight: round}
			if err := s.SaveStatuses([]Status{status}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(copyEvery + copyStatusDelay + copyDelay + time.Second)
			synctest.Wait()
			if in := statusesInCopy(t, dir); len(in) != 1 || in[0].Weight != round {
				t.Errorf("round %d: the copy has %+v", round, in)
			}
		}
		copied := func() time.Time {
			info, err := os.Stat(filepath.Join(dir, copyName))
			if err != nil {
				t.Fatal(err)
			}
			return info.ModTime()
		}
		before := copied()
		time.Sleep(time.Hour)
		synctest.Wait()
		if !copied().Equal(before) {
			t.Error("it is copied again though nothing changed")
		}
	})
}

// statusesInCopy verifies the copy and returns its statuses.
func statusesInCopy(t testing.TB, dir string) []Status {
	t.Helper()
	statuses, err := openCopy(t, dir).LoadStatuses()
	if err != nil {
		t.Fatal(err)
	}
	return statuses
}

// pinsInCopy verifies the copy and counts its pins.
func pinsInCopy(t testing.TB, dir string) int {
	t.Helper()
	return len(loadPins(t, openCopy(t, dir)))
}

// openCopy verifies the copy and opens it.
func openCopy(t testing.TB, dir string) *Store {
	t.Helper()
	elsewhere := t.TempDir()
	text, err := os.ReadFile(filepath.Join(dir, copyName))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := verify(bytes.NewReader(text), int64(len(text))); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(elsewhere, fileName), text, 0o600); err != nil {
		t.Fatal(err)
	}
	return open(t, elsewhere)
}

// A record that cannot be decoded, for example of a later version or a damaged record, is omitted, and other records
// are available.
func TestStore_OneBadRecordDoesNotHideTheOthers(t *testing.T) {
	s := open(t, t.TempDir())
	address := netip.MustParseAddr("192.0.2.1")
	key := endpointKey("bad.test", address, 80)
	for _, text := range []string{`{"check":{"Interval":"x"}}`, "", "\xff", `{"weight":1e99}`, `[]`} {
		if err := errors.Join(
			s.PutServer(model.Server{Service: "good.test", Address: address, Port: 80}),
			s.PutOrder(Order{Kind: api.OrderOverride, Service: "good.test", Address: "192.0.2.1"}),
			s.SaveStatuses([]Status{{Service: "good.test", Address: address, Port: 80}}),
			s.update(func(w *writer) {
				w.putRecord(bucketServers, key, []byte(text))
				w.putRecord(bucketStatuses, key, []byte(text))
				w.putRecord(bucketOverrides, orderKey("bad.test", "192.0.2.1"), []byte(text))
			}),
		); err != nil {
			t.Fatal(err)
		}
		servers, err1 := s.LoadServers()
		statuses, err2 := s.LoadStatuses()
		overrides, err3 := s.LoadOrders()
		if err := errors.Join(err1, err2, err3); err != nil {
			t.Errorf("%q: %v", text, err)
		}
		if len(servers) != 1 || len(statuses) != 1 || len(overrides) > 2 ||
			overrides[len(overrides)-1].Service != "good.test" {
			t.Errorf("%q: %v, %v, %v", text, servers, statuses, overrides)
		}
	}
}

func TestLoadPins_OneThatCannotBeDecodedIsNamedWithTheRemedy(t *testing.T) {
	s := open(t, t.TempDir())
	putPins(t, s, 2)
	if err := s.update(func(w *writer) {
		w.putRecord(bucketPins, []byte("eu-web-1"),
			[]byte(`{"agent_id": 7}`))
	}); err != nil {
		t.Fatal(err)
	}
	_, err := s.LoadPins()
	if err == nil || !strings.Contains(err.Error(), `"eu-web-1"`) ||
		!strings.Contains(err.Error(), "gslbctl agents unpin eu-web-1") {
		t.Errorf("%v", err)
	}
}

// For any duration of a copy, the next copy begins within the hour, or soon after a failed copy.
func TestRestAfter_IsBounded(t *testing.T) {
	for _, c := range []struct {
		took time.Duration
		err  error
		want time.Duration
	}{{0, nil, copyEvery}, {time.Second, nil, copyShare * time.Second}, {time.Hour, nil, copyAtLatest},
		{time.Hour, ErrNotDurable, copyEvery}} {
		if got := restAfter(c.took, c.err); got != c.want {
			t.Errorf("after %s, %v: %s, want %s", c.took, c.err, got, c.want)
		}
	}
}
