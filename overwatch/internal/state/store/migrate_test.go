package store // inside: it uses fileName, keptName and schema

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/netip"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"
)

// schema1 returns the file of a store that a program of schema 1 wrote: 41 pins, of which one is revoked, an override,
// a server, a domain, a status and three audit entries.
func schema1(t testing.TB) []byte {
	t.Helper()
	packed, err := os.Open("testdata/schema-1.db.gz")
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
	return content
}

// olderStore makes a directory with a store of schema 1.
func olderStore(t testing.TB) (dir string, content []byte) {
	t.Helper()
	dir, content = t.TempDir(), schema1(t)
	if err := os.WriteFile(filepath.Join(dir, fileName), content, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir, content
}

// hasAll tells of everything that schema1 has and s has not.
func hasAll(t testing.TB, s *Store) {
	t.Helper()
	if s.Recovered() != "" {
		t.Errorf("recovered: %s", s.Recovered())
	}
	pins := loadPins(t, s)
	if len(pins) != 41 || pins[40].AgentID != "agent-revoked" || !pins[40].Revoked || pins[40].RevokedReason != "stolen" ||
		pins[3].Services[0].TokenMark != [16]byte{1, 2} {
		t.Errorf("%d pins, the last %+v", len(pins), pins[max(len(pins)-1, 0)])
	}
	at := time.Unix(1700000000, 0).UTC()
	overrides, err := s.LoadOrders()
	if err != nil || len(overrides) != 1 || overrides[0].Source != "alice" || overrides[0].Healthy {
		t.Errorf("overrides %+v (%v)", overrides, err)
	}
	servers, err := s.LoadServers()
	if err != nil || len(servers) != 1 || servers[0].Address != netip.MustParseAddr("2001:db8::7") ||
		servers[0].Weight != 50 {
		t.Errorf("servers %+v (%v)", servers, err)
	}
	defined, err := s.LoadDefinitions()
	if err != nil || len(defined.Domains) != 1 || defined.Domains[0].TTL != 30 || !defined.Domains[0].Enabled ||
		len(defined.Regions) != 0 {
		t.Errorf("definitions %+v (%v)", defined, err)
	}
	statuses, err := s.LoadStatuses()
	if err != nil || len(statuses) != 1 || !statuses[0].Healthy || statuses[0].AgentID != "agent-1" ||
		!statuses[0].LastHealthyAt.Equal(at) {
		t.Errorf("statuses %+v (%v)", statuses, err)
	}
	entries, err := s.Changes().From(1, 10)
	if err != nil || len(entries) != 3 || string(entries[2]) != `{"entry":3}` {
		t.Errorf("audit log %q (%v)", entries, err)
	}
}

// isSchema1 tells if a file is not a sound store of schema 1.
func isSchema1(t testing.TB, path string) {
	t.Helper()
	if _, err := inspect(path); err != nil {
		t.Errorf("%s: %v", path, err)
	}
	db, err := bolt.Open(path, 0o600, &bolt.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	s := &Store{db: db, path: path}
	if found, err := s.number(schemaKey); found != 1 || err != nil {
		t.Errorf("%s has schema %d (%v)", path, found, err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestSteps_LeadToThisSchema(t *testing.T) {
	if len(steps) != schema-1 {
		t.Errorf("%d steps lead to schema %d", len(steps), schema)
	}
}

func TestMigrate_AStoreOfSchema1HasAllItHadAndACopyOfBefore(t *testing.T) {
	dir, _ := olderStore(t)
	s := open(t, dir)
	hasAll(t, s)
	if found, err := s.number(schemaKey); found != schema || err != nil {
		t.Errorf("schema %d (%v)", found, err)
	}
	var new Batch
	new.PutRegion(Region{Name: "eu-west", Code: "EUW"})
	if err := errors.Join(s.Write(&new), s.SaveLatencies([]Latency{
		{Service: "a.test", Address: netip.MustParseAddr("192.0.2.1"), Port: 80, Samples: 1}})); err != nil {
		t.Errorf("writing what schema 1 did not have: %v", err)
	}
	closed(t, s)

	kept := keptName(dir, 1)
	isSchema1(t, kept)
	before, err := os.Stat(kept)
	if err != nil || before.Mode().Perm() != 0o600 {
		t.Fatalf("the copy: %v (%v)", before, err)
	}
	s = open(t, dir)
	if defined, err := s.LoadDefinitions(); err != nil || len(defined.Regions) != 1 {
		t.Errorf("opened again: %+v (%v)", defined, err)
	}
	closed(t, s)
	if after, err := os.Stat(kept); err != nil || !os.SameFile(before, after) || !after.ModTime().Equal(before.ModTime()) {
		t.Errorf("a second opening made another copy: %v", err)
	}
	wantFiles(t, dir, fileName, copyName, lockName, filepath.Base(kept))

	// Back to the copy, and forward again: as the message of a program of schema 1 and the manual say.
	if err := errors.Join(os.Rename(kept, filepath.Join(dir, fileName)),
		os.Remove(filepath.Join(dir, copyName))); err != nil {
		t.Fatal(err)
	}
	hasAll(t, open(t, dir))
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

// A step that ends with the process: its transaction is not written.
func playKilledStep(dir string) int {
	steps = []func(*writer){func(w *writer) {
		addDefinitions(w)
		w.put(bucketRegions, []byte("half"), []byte("{}"))
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}}
	_, err := Open(dir, Options{})
	fmt.Println("survived:", err)
	return 1
}

func TestMigrate_KilledInTheMiddleOfAStepIsDoneByTheNextStart(t *testing.T) {
	dir, _ := olderStore(t)
	out, err := part(t, "killed step", dir).CombinedOutput()
	if failed, ok := errors.AsType[*exec.ExitError](err); !ok ||
		failed.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("%v: %s", err, out)
	}
	isSchema1(t, filepath.Join(dir, fileName))
	isSchema1(t, keptName(dir, 1))
	s := open(t, dir)
	hasAll(t, s)
	if defined, err := s.LoadDefinitions(); err != nil || len(defined.Regions) != 0 {
		t.Errorf("half a step is there: %+v (%v)", defined, err)
	}
}

func TestMigrate_KilledAtAnyMomentLosesNothing(t *testing.T) {
	dir, content := olderStore(t)
	for range 20 {
		c := part(t, "opener", dir)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(rand.N(40 * time.Millisecond)) // real: to be killed at any moment
		_ = c.Process.Kill()
		_ = c.Wait()
		s := open(t, dir)
		hasAll(t, s)
		closed(t, s)
		isSchema1(t, keptName(dir, 1))
		wantFiles(t, dir, fileName, copyName, lockName, filepath.Base(keptName(dir, 1)))
		if err := errors.Join(os.Remove(keptName(dir, 1)), os.Remove(filepath.Join(dir, copyName)),
			os.WriteFile(filepath.Join(dir, fileName), content, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
}

// playFullDiskAtStart opens the store where no file may become larger than some size, from nothing on.
func playFullDiskAtStart(dir string) int {
	signal.Ignore(syscall.SIGXFSZ)
	before := must(os.ReadFile(filepath.Join(dir, fileName)))
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		panic(err)
	}
	refused := 0
	for size := uint64(4096); ; size += 4096 {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: size, Max: limit.Max}); err != nil {
			panic(err)
		}
		s, err := Open(dir, Options{})
		if err == nil {
			if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
				panic(err)
			}
			fmt.Println("refused", refused, "times")
			if s.Close() != nil || refused == 0 {
				return 1
			}
			return 0
		}
		refused++
		if !strings.Contains(err.Error(), "the store is as it was") || !errors.Is(err, syscall.EFBIG) {
			fmt.Println("error:", err)
			return 1
		}
		if after := must(os.ReadFile(filepath.Join(dir, fileName))); !bytes.Equal(before, after) {
			fmt.Println("with", size, "octets of room the store was changed")
			return 1
		}
	}
}

func TestMigrate_OnAFullDiskTheStoreStaysAsItWasUntilThereIsRoom(t *testing.T) {
	dir, _ := olderStore(t)
	if out, err := part(t, "full disk at start", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	hasAll(t, open(t, dir))
	wantFiles(t, dir, fileName, copyName, lockName, filepath.Base(keptName(dir, 1)))
}

func TestMigrate_InADirectoryThatCannotBeWrittenToLeavesTheStoreAlone(t *testing.T) {
	dir := filepath.Join(publicDir(t), "data")
	content := schema1(t)
	if err := errors.Join(os.Mkdir(dir, 0o755), os.WriteFile(filepath.Join(dir, fileName), content, 0o600),
		os.WriteFile(filepath.Join(dir, lockName), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	chmod(t, filepath.Join(dir, fileName), 0o666)
	chmod(t, filepath.Join(dir, lockName), 0o666)
	chmod(t, dir, 0o555)
	c := part(t, "opener", dir)
	asNobody(t, c)
	out, err := c.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "permission denied") ||
		!strings.Contains(string(out), keptName(dir, 1)) && !strings.Contains(string(out), dir) {
		t.Errorf("%v: %s", err, out)
	}
	if after, err := os.ReadFile(filepath.Join(dir, fileName)); err != nil || !bytes.Equal(after, content) {
		t.Errorf("the store was changed (%v)", err)
	}
	chmod(t, dir, 0o755)
	hasAll(t, open(t, dir))
}

func TestMigrate_TwoAtOnceConvertOnce(t *testing.T) {
	dir, _ := olderStore(t)
	parts := make([]*exec.Cmd, 4)
	outputs := make([]bytes.Buffer, len(parts))
	for i := range parts {
		parts[i] = part(t, "opener", dir)
		parts[i].Stdout = &outputs[i]
		if err := parts[i].Start(); err != nil {
			t.Fatal(err)
		}
	}
	opened := 0
	for i, c := range parts {
		switch err := c.Wait(); {
		case err == nil:
			opened++
		case !strings.Contains(outputs[i].String(), "in use by another gslb process"):
			t.Errorf("%v: %s", err, outputs[i].String())
		}
	}
	if opened == 0 {
		t.Error("nobody could open it")
	}
	hasAll(t, open(t, dir))
	isSchema1(t, keptName(dir, 1))
}

// newerStore makes a directory with a store of the next schema.
func newerStore(t testing.TB) *Store {
	t.Helper()
	s := open(t, t.TempDir())
	putPins(t, s, 5)
	if err := s.update(func(w *writer) {
		w.put(bucketMeta, schemaKey, binary.BigEndian.AppendUint32(nil, schema+1))
		w.put(bucketMeta, programKey, []byte("gslb-overwatch 9.8.7"))
	}); err != nil {
		t.Fatal(err)
	}
	return s
}

// left closes a store as a program of its own schema would leave it.
func left(t testing.TB, s *Store) {
	t.Helper()
	if err := errors.Join(s.db.Close(), s.lock.Close()); err != nil {
		t.Fatal(err)
	}
}

func refusedAsNewer(t testing.TB, dir string, also ...string) {
	t.Helper()
	before := marks(t, dir)
	s, err := Open(dir, Options{})
	if err == nil {
		s.Close()
		t.Fatal("a store of a newer schema was opened")
	}
	for _, want := range append(also, fmt.Sprintf("has schema %d, and this program understands up to %d", schema+1,
		schema), "install gslb-overwatch 9.8.7 or later") {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not say %q", err, want)
		}
	}
	if after := marks(t, dir); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
}

// marks lists the files in a directory but for the lock, each with a mark of its content.
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

func TestOpen_ANewerSchemaIsRefusedWithTheWayOutAndLeftAlone(t *testing.T) {
	s := newerStore(t)
	left(t, s)
	refusedAsNewer(t, s.dir, fmt.Sprintf("restore a backup of schema %d", schema))
	if err := CheckSchema(s.dir); err == nil || !strings.Contains(err.Error(), "9.8.7") {
		t.Errorf("CheckSchema: %v", err)
	}
	if err := os.WriteFile(keptName(s.dir, schema), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	refusedAsNewer(t, s.dir, "mv "+keptName(s.dir, schema)+" "+s.path+" && rm -f "+s.copyPath())
}

// A newer program may write records of another form: that is not damage, for which its store would be set aside.
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

// The copy stands in for a damaged store; when a newer program made it, this one must not go on without it.
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
	older, _ := olderStore(t)
	for _, dir := range []string{dir, older, filepath.Join(dir, "missing")} {
		if err := CheckSchema(dir); err != nil {
			t.Error(err)
		}
	}
}

// Files that a process was writing when it was killed do not fill the disk.
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
