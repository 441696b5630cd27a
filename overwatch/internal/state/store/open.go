package store

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"gslb.internal/overwatch/internal/state/replica"
)

// The names of the files, in the directory.
const (
	fileName = "gslb.db"
	copyName = "gslb.db.copy"
	lockName = "gslb.lock"
)

// The buckets.
const (
	bucketDigests   = "digests"
	bucketMeta      = "meta"
	bucketPins      = "pins"
	bucketStatuses  = "statuses"
	bucketOverrides = "overrides"
	bucketWeights   = "weights"
	bucketDrains    = "drains"
	bucketBegun     = "begun" // of this node: orders with a beginning in its audit log
	bucketServers   = "servers"
	bucketSettings  = "settings"
	bucketNodes     = "nodes"
	bucketTokens    = "tokens"
	bucketAudit     = "audit"
	bucketLatencies = "latencies"
	bucketRefusals  = "refusals" // created by the first entry, so that the schema stays
	bucketReceived  = "received" // created by the first entry, like refusals
	bucketApplied   = "applied"  // created by the first state, like refusals
	bucketVersions  = "versions"
)

// buckets lists the buckets that every store has: all except the buckets that are created by a first entry.
func buckets() []string {
	list := []string{bucketMeta, bucketPins, bucketStatuses, bucketBegun, bucketAudit, bucketLatencies, bucketVersions}
	for i := range kinds {
		if kinds[i].bucket != "" {
			list = append(list, kinds[i].bucket)
		}
	}
	return list
}

// addMissingBuckets creates the buckets of kinds that are new in this version.
func (s *Store) addMissingBuckets() error {
	var missing []string
	err := s.db.View(func(tx *bolt.Tx) error {
		for _, name := range buckets() {
			if tx.Bucket([]byte(name)) == nil {
				missing = append(missing, name)
			}
		}
		return nil
	})
	if err != nil || len(missing) == 0 {
		return err
	}
	return s.update(func(w *writer) { w.addBuckets(missing...) })
}

// Options configures a Store.
type Options struct {
	// Program is the name and version of this program, for the error message of an earlier version that opens the store;
	// at most 128 octets.
	Program string
	// NodeID is this node's id in the versions of its changes; empty: "node".
	NodeID string
	// Retention is the time for which the store keeps a deletion; 0: thirty days.
	Retention time.Duration
	// Now returns the time for versions and for the names of replaced files; nil: time.Now.
	Now func() time.Time
	// CheckObject returns an error for an object of another node that must have no effect on this node; nil: all objects
	// may have an effect.
	CheckObject func(*replica.Object) error
	// Logger receives a line at the first failed copy, and at the first successful copy after a failure.
	Logger zerolog.Logger
}

// Store is an open store.
type Store struct {
	dir, path string
	program   string
	o         Options
	now       func() time.Time
	log       zerolog.Logger
	lock      *os.File
	db        *bolt.DB
	recovered string

	queueMu  sync.Mutex
	queue    []*change                 // queueMu
	commitMu sync.Mutex                // locked while a transaction is written
	writing  atomic.Pointer[time.Time] // start of the current transaction; nil without a transaction
	failed   atomic.Bool               // the last write failed, and probe has not succeeded since

	table   *replica.Table             // commitMu
	marks   replica.Marks              // marks of the table after the last transaction; guarded by commitMu
	held    map[replica.Key]heldObject // commitMu; see pruneHeld
	figures atomic.Pointer[Replicas]

	copyMu   sync.Mutex    // locked during a copy
	changed  chan struct{} // has an element while the copy lacks changes
	statuses chan struct{} // has an element while the copy may lack statuses
}

// Open locks the directory for this process and opens the store in it. It creates a missing directory (0700). It
// replaces a damaged store, see Recovered. Errors name the directory and the remedy. The error wraps ErrInUse if
// another process uses the directory.
func Open(dir string, o Options) (*Store, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	o.NodeID, o.Retention = cmp.Or(o.NodeID, "node"), cmp.Or(o.Retention, defaultRetention)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, notWritable(dir, err)
	}
	lock, err := lockDir(dir, filepath.Join(dir, lockName))
	if err != nil {
		return nil, err
	}
	s := &Store{held: make(map[replica.Key]heldObject), dir: dir, path: filepath.Join(dir, fileName), program: o.Program,
		o: o, now: o.Now, log: o.Logger, lock: lock, changed: make(chan struct{}, 1), statuses: make(chan struct{}, 1)}
	if err := s.open(); err != nil {
		lock.Close()
		return nil, err
	}
	if _, err := os.Stat(s.copyPath()); err != nil {
		mark(s.changed)
	}
	return s, nil
}

func (s *Store) copyPath() string { return filepath.Join(s.dir, copyName) }

// open selects an undamaged file and opens it with bbolt.
func (s *Store) open() error {
	if err := s.clearLeftovers(); err != nil {
		return err
	}
	if err := s.settleFile(); err != nil {
		return err
	}
	db, err := openBolt(s.path)
	if errors.Is(err, errDamaged) { // bbolt found damage that verify accepts: retry without this file
		if err := s.replace(err.Error()); err != nil {
			return err
		}
		db, err = openBolt(s.path)
	}
	if err != nil {
		return err
	}
	s.db = db
	err = s.confirmSchema()
	if err == nil {
		err = s.addMissingBuckets()
	}
	if err == nil {
		err = s.openTable()
	}
	if err != nil {
		return errors.Join(err, db.Close())
	}
	return nil
}

// Recovered returns a sentence about the damage that Open found and about the replacement of the file, or "" without
// damage. Operators should see the sentence: pins or overrides may be missing.
func (s *Store) Recovered() string { return s.recovered }

// Close writes a last copy if the copy lacks changes, and unlocks the directory.
func (s *Store) Close() error {
	copyErr := s.copyIfChanged()
	s.commitMu.Lock()
	defer s.commitMu.Unlock()
	return errors.Join(copyErr, guarded(s.db.Close), s.lock.Close())
}

// openBolt opens an undamaged file, or creates the file if it is missing.
func openBolt(path string) (*bolt.DB, error) {
	var db *bolt.DB
	err := guarded(func() (err error) {
		db, err = bolt.Open(path, 0o600, &bolt.Options{
			Timeout: lockTimeout,
			// The list of free pages is built from the verified tree instead of the list in the file: a damaged list would
			// return pages in use. Transactions then need not write the list.
			NoFreelistSync: true,
			FreelistType:   bolt.FreelistMapType,
		})
		return err
	})
	if errors.Is(err, berrors.ErrTimeout) {
		return nil, fmt.Errorf("%s is %w: stop that one", path, ErrInUse) // another tool: gslb processes lock the directory
	}
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", path, err)
	}
	return db, nil
}

// create creates an empty store. It renames the complete file.
func (s *Store) create() error {
	temporary := s.path + ".new"
	if err := os.Remove(temporary); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("creating %s: %w", s.path, err)
	}
	db, err := openBolt(temporary)
	if err != nil {
		return err
	}
	if err = errors.Join(s.fill(db), db.Close()); err != nil {
		os.Remove(temporary)
		return fmt.Errorf("creating %s: %w", s.path, err)
	}
	return rename(temporary, s.path)
}

// fill creates the buckets of an empty store.
func (s *Store) fill(db *bolt.DB) error {
	return db.Update(func(tx *bolt.Tx) error {
		if _, err := tx.CreateBucket([]byte(bucketDigests)); err != nil {
			return err
		}
		w := &writer{tx: tx, digests: make(map[string]digest)}
		w.addBuckets(buckets()...)
		w.writeSchema(s.program)
		return w.finish()
	})
}
