package store // inside: it uses copyName, fileName, lockName, schema and schemaKey

import (
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
)

// releasedStore creates a directory with a store that version 0.9.0 wrote: 40 pins, a revoked pin, a lock, two domains,
// an object of each other kind, an order of each kind, a status, a latency, three audit entries and a refusal.
func releasedStore(t testing.TB) (dir string) {
	t.Helper()
	packed, err := os.Open("testdata/store-0.9.0.db.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	unpacked, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(unpacked)
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, fileName), content, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// A store of version 0.9.0 has all its records, and its objects have the versions that 0.9.0 gave them. Opening the
// store adds only the buckets of new kinds: opening it again changes no octet of the file.
//
// Fault 15.
func TestOpen_AStoreOfVersion090OpensUnchanged(t *testing.T) {
	dir := releasedStore(t)
	left(t, open(t, dir))
	before := marks(t, dir)
	s := open(t, dir)
	if err := CheckSchema(dir); err != nil || s.Recovered() != "" {
		t.Errorf("recovered %q, %v", s.Recovered(), err)
	}
	releasedPins(t, s)
	releasedObjects(t, s)
	releasedRecords(t, s)
	for _, o := range s.Objects() {
		if at := time.Unix(1700000000, 0); o.Version.Node != "ow-1" || o.Version.At().Sub(at).Abs() > time.Second {
			t.Errorf("the version of %v is %s", o.Key, o.Version)
		}
	}
	if got := s.Replicas().Objects; got != 12 {
		t.Errorf("%d objects with a version, want 12", got)
	}
	left(t, s)
	if after := marks(t, dir); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
}

func releasedPins(t testing.TB, s *Store) {
	t.Helper()
	pins := loadPins(t, s)
	if len(pins) != 41 || pins[40].AgentID != "agent-revoked" || !pins[40].Revoked ||
		pins[40].RevokedReason != "stolen" || pins[3].Services[0].TokenMark != [16]byte{1, 2} {
		t.Errorf("%d pins, the last %+v", len(pins), pins[max(len(pins)-1, 0)])
	}
	if locks, err := s.LoadLocks(); err != nil || len(locks) != 1 || locks[0].AgentID != "agent-revoked" {
		t.Errorf("locks %+v (%v)", locks, err)
	}
}

func releasedObjects(t testing.TB, s *Store) {
	t.Helper()
	counts, values := map[string]int{}, map[string]string{}
	err := s.LoadDefinitions(func(kind, name string, value []byte) error {
		counts[kind]++
		values[kind+" "+name] = string(value)
		return nil
	})
	if err != nil || counts[KindDomain] != 2 || counts[KindRegion] != 1 || counts[KindMapping] != 1 ||
		counts[KindAgent] != 1 || values["setting dns"] != `{"ttl":20}` {
		t.Fatalf("definitions %+v (%v)", values, err)
	}
	d, err := model.Decode[model.Domain]([]byte(values["domain app.example"]))
	if err != nil || d.Name != "app.example" || d.TTL != 30 || d.RoutingAlgorithm != "proximity" ||
		d.FallbackAlgorithm != "client-hash" || d.MinHealthy != "50%" || !d.Enabled || d.Owner != "doc" {
		t.Errorf("domain %+v", d)
	}
	servers, err := s.LoadServers()
	if err != nil || len(servers) != 1 || servers[0].Address != netip.MustParseAddr("2001:db8::7") ||
		servers[0].Weight != 50 {
		t.Errorf("servers %+v (%v)", servers, err)
	}
	orders, err := s.LoadOrders()
	if err != nil || len(orders) != len(api.OrderKinds()) {
		t.Fatalf("orders %+v (%v)", orders, err)
	}
	for i, kind := range api.OrderKinds() {
		if orders[i].Kind != kind || orders[i].Source != "alice" {
			t.Errorf("order %+v, want kind %s", orders[i], kind)
		}
	}
}

func releasedRecords(t testing.TB, s *Store) {
	t.Helper()
	statuses, err := s.LoadStatuses()
	if err != nil || len(statuses) != 1 || !statuses[0].Healthy || statuses[0].AgentID != "agent-1" {
		t.Errorf("statuses %+v (%v)", statuses, err)
	}
	if latencies, err := s.LoadLatencies(); err != nil || len(latencies) != 1 {
		t.Errorf("latencies %+v (%v)", latencies, err)
	}
	if serial, err := s.LoadSerial(); err != nil || serial != 2026112601 {
		t.Errorf("serial %d (%v)", serial, err)
	}
	entries, err := s.Changes().From(1, 10)
	if err != nil || len(entries) != 3 || string(entries[2]) != `{"entry":3}` {
		t.Errorf("audit log %q (%v)", entries, err)
	}
	if entries, err = s.Refusals().From(1, 10); err != nil || len(entries) != 1 {
		t.Errorf("refusals %q (%v)", entries, err)
	}
}

// Version 0.9.0 refuses a store with a schema above 4. A rollback to 0.9.0 must not need a copy of the store.
func TestSchema_IsThatOfVersion090(t *testing.T) {
	s := open(t, t.TempDir())
	if found, err := s.number(schemaKey); err != nil || found != 4 {
		t.Errorf("schema %d (%v), want 4", found, err)
	}
}

// Fault 15.
func TestOpen_AnOlderSchemaIsRefusedWithTheRemedyAndLeftAlone(t *testing.T) {
	for found := uint32(1); found < schema; found++ {
		s := open(t, t.TempDir())
		if err := s.update(func(w *writer) {
			w.putRecord(bucketMeta, schemaKey, binary.BigEndian.AppendUint32(nil, found))
		}); err != nil {
			t.Fatal(err)
		}
		left(t, s)
		refused(t, s.dir, fmt.Sprintf("%s has schema %d of a version before 0.9.0", s.path, found),
			"start version 0.9.0 once")
		if err := os.Rename(s.path, s.copyPath()); err != nil { // Open refuses the copy as well
			t.Fatal(err)
		}
		refused(t, s.dir, "start version 0.9.0 once")
	}
}

// Fault 15.
func TestOpen_AStoreWithoutSchemaIsRefused(t *testing.T) {
	s := open(t, t.TempDir())
	if err := s.update(func(w *writer) { w.delete(bucketMeta, schemaKey) }); err != nil {
		t.Fatal(err)
	}
	left(t, s)
	refused(t, s.dir, "has schema 0, which no version writes: restore a backup")
}

// wantFiles compares the names in a directory.
func wantFiles(t testing.TB, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	left := make(map[string]bool)
	for _, name := range want {
		left[name] = true
	}
	for _, e := range entries {
		if !left[e.Name()] {
			t.Errorf("%s is there", e.Name())
		}
		delete(left, e.Name())
	}
	for name := range left {
		t.Errorf("%s is missing", name)
	}
}

// newerStore creates a directory with a store of the next schema.
func newerStore(t testing.TB) *Store {
	t.Helper()
	s := open(t, t.TempDir())
	putPins(t, s, 5)
	if err := s.update(func(w *writer) {
		w.putRecord(bucketMeta, schemaKey, binary.BigEndian.AppendUint32(nil, schema+1))
		w.putRecord(bucketMeta, programKey, []byte("gslb-overwatch 9.8.7"))
	}); err != nil {
		t.Fatal(err)
	}
	return s
}

// left closes a store like a program of its own schema.
func left(t testing.TB, s *Store) {
	t.Helper()
	if err := errors.Join(s.db.Close(), s.lock.Close()); err != nil {
		t.Fatal(err)
	}
}

// refused checks that Open refuses the store in dir with an error that contains these texts, and changes no file.
func refused(t testing.TB, dir string, texts ...string) {
	t.Helper()
	before := marks(t, dir)
	s, err := Open(dir, Options{})
	if err == nil {
		s.Close()
		t.Fatal("a store of another schema was opened")
	}
	for _, want := range texts {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not say %q", err, want)
		}
	}
	if after := marks(t, dir); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
}

func refusedAsNewer(t testing.TB, dir string) {
	t.Helper()
	refused(t, dir, fmt.Sprintf("has schema %d, and this program understands up to %d", schema+1, schema),
		"install gslb-overwatch 9.8.7 or later; or restore a backup of schema 4")
}

// marks lists the files in a directory except the lock, each with a hash of its content.
func marks(t testing.TB, dir string) (text string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() == lockName {
			continue
		}
		content, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		text += fmt.Sprintf("%s %x\n", e.Name(), sum("", nil, content))
	}
	return text
}

// Fault 15.
func TestOpen_ANewerSchemaIsRefusedWithTheWayOutAndLeftAlone(t *testing.T) {
	s := newerStore(t)
	left(t, s)
	refusedAsNewer(t, s.dir)
	if err := CheckSchema(s.dir); err == nil || !strings.Contains(err.Error(), "9.8.7") {
		t.Errorf("CheckSchema: %v", err)
	}
}

// A newer program may write records in another format. Open must not treat this as damage and set the store aside.
//
// Fault 15.
func TestOpen_ANewerSchemaOfAnotherFormIsNotTakenForDamage(t *testing.T) {
	s := newerStore(t)
	if err := s.db.Update(func(tx *bolt.Tx) error {
		return errors.Join(tx.Bucket([]byte(bucketPins)).Put([]byte("agent-0"), []byte("of another form")),
			tx.DeleteBucket([]byte(bucketDigests)))
	}); err != nil {
		t.Fatal(err)
	}
	left(t, s)
	refusedAsNewer(t, s.dir)
}

// The copy replaces a damaged store. If a newer program created the copy, this program must not continue without it.
//
// Fault 15.
func TestOpen_ANewerCopyOfADamagedStoreIsNotSetAside(t *testing.T) {
	s := newerStore(t)
	left(t, s)
	if err := errors.Join(os.Rename(s.path, s.copyPath()), os.WriteFile(s.path, []byte("damaged"), 0o600)); err != nil {
		t.Fatal(err)
	}
	refusedAsNewer(t, s.dir)
	if err := os.Remove(s.path); err != nil {
		t.Fatal(err)
	}
	refusedAsNewer(t, s.dir)
}

func TestCheckSchema_SaysNothingOfWhatItCanRead(t *testing.T) {
	dir := t.TempDir()
	if err := CheckSchema(dir); err != nil {
		t.Errorf("an empty directory: %v", err)
	}
	putPins(t, open(t, dir), 1)
	for _, dir := range []string{dir, releasedStore(t), filepath.Join(dir, "missing")} {
		if err := CheckSchema(dir); err != nil {
			t.Error(err)
		}
	}
}

// Unfinished files of a killed process do not fill the disk.
//
// Fault 15.
func TestOpen_DeletesWhatWasHalfWritten(t *testing.T) {
	dir := t.TempDir()
	closed(t, open(t, dir))
	for _, name := range []string{copyName + newEnding + "1", fileName + newEnding + "2"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	open(t, dir)
	wantFiles(t, dir, fileName, copyName, lockName)
}
