package store

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"gslb.internal/overwatch/internal/state/replica"
)

// defaultRetention is the default of the time for which a deletion is stored.
const defaultRetention = 30 * 24 * time.Hour

// syncedKey is the key in bucketMeta of the time when this node last had all objects of another node.
var syncedKey = []byte("replicas met")

// marksKey is the key in bucketMeta of replica.Marks.
var marksKey = []byte("replica marks")

// Replicas holds figures of the replicated objects.
type Replicas struct {
	Objects, Tombstones int
	Digest              replica.Digest
	Changes             uint64        // number of the last change
	Joining             bool          // see replica.Table.Joining
	Settled             bool          // see replica.Table.Settled; after the last change
	Next                chan struct{} // closed when Changes increases
}

// Replicas returns the state of the table after the last change. It does not wait.
func (s *Store) Replicas() Replicas { return *s.figures.Load() }

// Object returns a replicated object, which may be a tombstone, as it is on disk.
func (s *Store) Object(key replica.Key) (replica.Object, bool) {
	s.commitMu.Lock()
	defer s.commitMu.Unlock()
	return s.table.Get(key)
}

// Objects returns the replicated objects and tombstones, sorted by key, without expired admin states.
func (s *Store) Objects() []replica.Object {
	s.commitMu.Lock()
	defer s.commitMu.Unlock()
	now := s.now()
	return slices.DeleteFunc(s.table.All(), func(o replica.Object) bool {
		at := ended(&o)
		return !at.IsZero() && !now.Before(at)
	})
}

// ChangedSince returns the number of objects that have changed after a change number.
func (s *Store) ChangedSince(change uint64) int {
	if s.Replicas().Changes == change {
		return 0
	}
	s.commitMu.Lock()
	defer s.commitMu.Unlock()
	return s.table.CountSince(change)
}

// Now returns the time for new versions.
func (s *Store) Now() time.Time { return s.now() }

// Limit returns the time that versions from other nodes may exceed by replica.MaxAhead.
func (s *Store) Limit() time.Time {
	s.commitMu.Lock()
	defer s.commitMu.Unlock()
	return s.table.Limit()
}

// Agree compares the clock of this node with the clock of an authenticated peer. It returns true if the clock has
// become settled.
func (s *Store) Agree(theirs time.Time) bool {
	s.commitMu.Lock()
	defer s.commitMu.Unlock()
	settled := s.table.Agree(theirs)
	s.showTable()
	return settled
}

// Page returns objects that have changed after a change number (see replica.Table.Page) for a peer with a Limit; a zero
// Limit is unknown. It first stores that the peer may store these objects.
func (s *Store) Page(change uint64, size int, limit time.Time) (replica.Offer, error) {
	for {
		s.commitMu.Lock()
		offer := s.table.Page(change, size)
		unmarked, ok := s.table.Unmarked(&offer, limit)
		s.commitMu.Unlock()
		if !ok {
			return offer, nil
		}
		if err := s.update(func(w *writer) {
			w.table.MarkStored(unmarked)
			w.putMarks()
		}); err != nil {
			return replica.Offer{}, err
		}
	}
}

// Differences compares the table with all objects of another node, see replica.Table.Differences.
func (s *Store) Differences(theirs []replica.Object) (count int, first replica.Key) {
	s.commitMu.Lock()
	defer s.commitMu.Unlock()
	now := s.now()
	return s.table.Differences(theirs, func(o *replica.Object) bool {
		at := ended(o)
		return !at.IsZero() && at.Before(now)
	})
}

// Merge merges the offer of another node (see replica.Table.Merge). It stores records and versions in one transaction
// and returns when they are on disk. The caller must pass the records to owners with copies in memory. audit returns
// the audit entries for the transaction; nil: no entries.
func (s *Store) Merge(offer replica.Offer, audit func(*replica.Merged) MergeEntries) (replica.Merged, error) {
	return s.merge([]replica.Offer{offer}, func(t *replica.Table, sound []replica.Offer) replica.Merged {
		return t.Merge(sound[0])
	}, audit)
}

// MetReplicas records that another node that is not joining has the same objects, see replica.Table.Met.
func (s *Store) MetReplicas() error {
	return s.update(func(w *writer) {
		w.table.Met()
		w.putSynced()
		w.putMarks()
	})
}

// BeginReplicas merges the offers and ends Joining, see replica.Table.Begin. audit is as for Merge.
func (s *Store) BeginReplicas(offers []replica.Offer, audit func(*replica.Merged) MergeEntries) (replica.Merged,
	error) {
	return s.merge(offers, (*replica.Table).Begin, audit)
}

func (s *Store) merge(offers []replica.Offer, with func(*replica.Table, []replica.Offer) replica.Merged,
	audit func(*replica.Merged) MergeEntries) (m replica.Merged, err error) {
	var heldBefore map[replica.Key]heldObject
	err = s.updateAndCopySoon(func(w *writer) {
		c := s.screen()
		heldBefore = maps.Clone(s.held)
		sound := make([]replica.Offer, len(offers))
		for i := range offers {
			sound[i] = c.offer(offers[i])
		}
		m = with(w.table, sound)
		c.storeRejected(w, &m)
		for i := range m.Dropped {
			w.dropObject(&m.Dropped[i])
		}
		if m.Synced {
			w.putSynced()
		}
		if m.Marked {
			w.putMarks()
		}
		if audit != nil {
			w.appendMerge(audit(&m))
		}
	})
	if err != nil { // the table is unchanged
		s.commitMu.Lock()
		defer s.commitMu.Unlock()
		if heldBefore != nil {
			s.held = heldBefore
		}
		return replica.Merged{}, err
	}
	return m, nil
}

func (w *writer) putSynced() {
	w.putRecord(bucketMeta, syncedKey, []byte(w.table.Synced().UTC().Format(time.RFC3339Nano)))
}

// putMarks stores the marks of the table (replica.Marks), which bound the versions that the node may still lower.
func (w *writer) putMarks() {
	text, err := json.Marshal(w.table.Marks())
	if err != nil && w.err == nil {
		w.err = fmt.Errorf("the marks of versions: %w", err)
	}
	w.putRecord(bucketMeta, marksKey, text)
}

// TendReplicas deletes tombstones and expired admin states older than the retention, if the clock of this node agrees
// with the clock of a peer or the node has no peers. If the clock is confirmed, objects of this node with versions far
// in the future receive current versions (see replica.Table.Mend). TendReplicas returns these objects.
func (s *Store) TendReplicas(peers replica.Peers) (mended []replica.Object, err error) {
	err = s.update(func(w *writer) {
		w.table.SetPeers(peers)
		mended = w.table.Mend()
		for i := range mended {
			w.putVersion(&mended[i])
		}
		w.putMarks()
		long := s.now().Add(-s.o.Retention)
		over := func(o *replica.Object) bool {
			at := ended(o)
			return !at.IsZero() && at.Before(long) && !w.recorded(o)
		}
		for _, key := range w.table.Collect(over) {
			w.delete(bucketVersions, versionKey(key))
		}
	})
	return mended, err
}

func versionKey(k replica.Key) []byte { return []byte(k.Kind + "\x00" + k.Name) }

// version sets the version of a record that this node has written. A nil value is a deletion.
func (w *writer) version(bucket string, key, value []byte) {
	if w.table == nil || w.given || w.err != nil {
		return
	}
	k, ok := objectKey(bucket, key)
	if !ok || value != nil && !json.Valid(value) { // a damaged record, which is not replicated
		return
	}
	var o replica.Object
	if value == nil {
		o = w.table.Delete(k)
	} else {
		o = w.table.Put(k, bytes.Clone(value))
	}
	w.putVersion(&o)
	w.putMarks()
}

// deleteExpired deletes an expired record. The object remains without a record until TendReplicas deletes it: other
// nodes have the object, and do not offer it while the object here is equal.
func (w *writer) deleteExpired(bucket string, key []byte) {
	w.given = true
	w.delete(bucket, key)
	w.given = false
	k, _ := objectKey(bucket, key)
	if o, there := w.table.Get(k); there {
		w.putVersion(&o)
	}
}

// recorded reports whether the value of an object is in a separate record.
func (w *writer) recorded(o *replica.Object) bool {
	bucket, key, own := recordKeyOf(o)
	if !own {
		return false
	}
	b := w.open(bucket)
	return w.err == nil && b.Get(key) != nil
}

// hasValue reports whether a separate record has the value of an object.
func (w *writer) hasValue(o *replica.Object) bool {
	bucket, key, own := recordKeyOf(o)
	if !own {
		return false
	}
	b := w.open(bucket)
	if w.err != nil {
		return false
	}
	record := b.Get(key)
	if record == nil {
		return false
	}
	value, _, err := unseal(bucket, key, record)
	return err == nil && bytes.Equal(value, o.Value)
}

// putVersion stores the version of an object, and the value of an object without a separate record.
func (w *writer) putVersion(o *replica.Object) {
	stored := *o
	if w.hasValue(o) {
		stored.Value = nil
	}
	text, err := json.Marshal(&stored)
	if err != nil && w.err == nil {
		w.err = fmt.Errorf("the version of %s %q: %w", o.Kind, o.Name, err)
	}
	w.putRecord(bucketVersions, versionKey(o.Key), text)
}

// putObject stores an object of another node.
func (w *writer) putObject(o *replica.Object) {
	w.given = true
	defer func() { w.given = false }()
	bucket, key, ok := recordKeyOf(o)
	switch {
	case ok && !o.Deleted:
		w.putRecord(bucket, key, o.Value)
	case bucket != "":
		w.delete(bucket, key)
		w.dropBegun(o.Key)
	}
	w.followTrust(o)
	w.putVersion(o)
}

// dropObject deletes an object with its record and its version, without a tombstone.
func (w *writer) dropObject(o *replica.Object) {
	w.given = true
	defer func() { w.given = false }()
	w.followTrust(&replica.Object{Key: o.Key, Version: o.Version, Deleted: true})
	if bucket, key, _ := recordKeyOf(o); bucket != "" {
		w.delete(bucket, key)
		w.dropBegun(o.Key)
	}
	w.delete(bucketVersions, versionKey(o.Key))
}

// showTable publishes the state of the table. The caller holds commitMu, or is Open.
func (s *Store) showTable() {
	if s.table == nil { // during the creation of a store
		return
	}
	s.marks = s.table.Marks()
	before := s.figures.Load()
	if before != nil && before.Changes == s.table.Changes() && before.Digest == s.table.Digest() &&
		before.Joining == s.table.Joining() && before.Settled == s.table.Settled() {
		return
	}
	now := &Replicas{Digest: s.table.Digest(), Changes: s.table.Changes(), Joining: s.table.Joining(),
		Settled: s.table.Settled(), Next: make(chan struct{})}
	now.Objects, now.Tombstones = s.table.Count()
	s.figures.Store(now)
	if before != nil {
		close(before.Next)
	}
}

// rereadTable reloads the table from disk after a failed transaction with changes of the table. The caller holds
// commitMu.
func (s *Store) rereadTable() {
	shown := s.figures.Load()
	if shown == nil || shown.Changes == s.table.Changes() && shown.Digest == s.table.Digest() &&
		shown.Joining == s.table.Joining() && s.marks == s.table.Marks() {
		return
	}
	table, err := s.readTable()
	if err != nil {
		s.log.Error().Err(err).Msg("other nodes may receive versions that are not stored, until the next start")
		return
	}
	table.Continue(s.table)
	s.table = table
	s.showTable()
}

// openTable loads the table. It creates the records of admin states that ended early, and of objects that may now take
// effect.
func (s *Store) openTable() (err error) {
	if s.table, err = s.readTable(); err != nil {
		return err
	}
	s.showTable()
	records, err := s.records()
	if err != nil {
		return err
	}
	admitted := s.readmit(records)
	if len(admitted) == 0 {
		return nil
	}
	return s.update(func(w *writer) {
		for i := range admitted {
			w.putObject(&admitted[i])
		}
	})
}

func (s *Store) readTable() (*replica.Table, error) {
	o := replica.Options{NodeID: s.o.NodeID, Retention: s.o.Retention, Now: s.now}
	err := s.readSound(bucketVersions, func(key, value []byte) error {
		var object replica.Object
		if err := json.Unmarshal(value, &object); err != nil {
			return fmt.Errorf("version of %q: %w", key, err)
		}
		o.Objects = append(o.Objects, object)
		return nil
	})
	if err != nil {
		return nil, err
	}
	records, err := s.records()
	if err != nil {
		return nil, err
	}
	for i := range o.Objects {
		if object := &o.Objects[i]; !object.Deleted && object.Value == nil {
			object.Value = records[object.Key]
		}
	}
	synced, err := s.readRecord(bucketMeta, syncedKey)
	if synced != nil {
		o.Synced, err = time.Parse(time.RFC3339Nano, string(synced))
	}
	if err != nil {
		return nil, err
	}
	marks, err := s.readRecord(bucketMeta, marksKey)
	if marks != nil {
		err = json.Unmarshal(marks, &o.Marks)
	}
	if err != nil {
		return nil, err
	}
	return replica.New(o)
}

// records returns the values of all records that are objects.
func (s *Store) records() (map[replica.Key]json.RawMessage, error) {
	values := make(map[replica.Key]json.RawMessage)
	for i := range kinds {
		bucket := kinds[i].bucket
		if bucket == "" {
			continue
		}
		err := s.read(bucket, func(key, value []byte) error {
			if k, ok := objectKey(bucket, key); ok && json.Valid(value) {
				values[k] = bytes.Clone(value)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return values, s.refusals(values)
}
