package dnssec

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/shared/durable"
)

// MaxKeys bounds the keys of one zone, so that neither files nor peers can make its DNSKEY RRset large.
const MaxKeys = 3

// Directory returns the directory of the signing keys in a data directory.
func Directory(dataDir string) string { return filepath.Join(dataDir, "dnssec") }

// Keyring holds the keys of this node's zones and owns their directory. It is not safe for concurrent use; the slices
// of keys that it returns are.
type Keyring struct {
	dir     string
	keys    map[string][]*Key  // by zone; oldest first
	damaged map[string]error   // by the file names' common beginning
	records map[string]*record // by zone
}

// OpenKeyring reads all keys in dir, also those of zones that are not configured now. It makes a missing dir. Damage
// names the files that cannot be used. notes are warnings for the log, one line each, where the files differ from the
// records of their zones.
func OpenKeyring(dir string, now time.Time) (r *Keyring, notes []error, err error) {
	if err := makeDir(dir); err != nil {
		return nil, nil, err
	}
	r, zones, err := readKeyring(dir)
	if err != nil {
		return nil, nil, err
	}
	return r, r.reconcileAll(zones, now), nil
}

func makeDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("making the DNSSEC key directory: %w", err)
	}
	return nil
}

// Inspect finds faults of the key files in dir and changes nothing. refused keeps a node from starting; damage does
// too, unless another node has a copy. A directory that does not exist or that this user may not list has no faults.
func Inspect(dir string) (refused, damage error) {
	if entries, _ := os.ReadDir(dir); len(entries) == 0 {
		return nil, nil
	}
	r, _, err := readKeyring(dir)
	if err != nil {
		return err, nil
	}
	return nil, r.Damage()
}

// readKeyring reads the keys in dir. zones are those with files there.
func readKeyring(dir string) (r *Keyring, zones map[string]bool, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, nil, fmt.Errorf("reading the DNSSEC key directory: %w", err)
	}
	r = &Keyring{dir: dir, keys: make(map[string][]*Key), damaged: make(map[string]error),
		records: make(map[string]*record)}
	zones = make(map[string]bool)
	for _, base := range keyNames(entries) {
		k, err := readKey(filepath.Join(dir, base))
		switch {
		case errors.Is(err, errOpenToOthers):
			return nil, nil, err // somebody may have read the key, so the operator must decide
		case err != nil:
			r.damaged[base] = err
			continue
		}
		r.insert(k)
		zones[k.zone] = true
	}
	for zone, keys := range r.keys {
		if len(keys) > MaxKeys {
			return nil, nil,
				fmt.Errorf(
					"DNSSEC key directory %s: %d keys for %s, at most %d can be published; move the files of those that are not "+
						"needed away", dir, len(keys), zone, MaxKeys)
		}
	}
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), recordEnding); ok {
			zones[strings.ReplaceAll(name, "%2F", "/")+"."] = true
		}
	}
	return r, zones, nil
}

// reread reads the directory again, as a start would. Unchanged keys stay the same pointers. A zone whose files are
// all gone keeps its keys, and a note says so. A roll goes on with what is known of the parent. Unusable files are an
// error, and nothing is changed then.
func (r *Keyring) reread(now time.Time) (next *Keyring, notes []error, err error) {
	if err := makeDir(r.dir); err != nil {
		return nil, nil, err
	}
	next, zones, err := readKeyring(r.dir)
	if err == nil {
		err = next.Damage()
	}
	if err != nil {
		return nil, nil, err
	}
	for _, zone := range sortedKeys(r.keys) {
		if len(r.keys[zone]) > 0 && len(next.keys[zone]) == 0 {
			next.keys[zone], zones[zone] = r.keys[zone], true
			notes = append(notes,
				fmt.Errorf(
					"the files of all keys of %s are gone from %s: this process goes on with them, and the next start makes a new "+
						"one; put them back", zone, r.dir))
			continue
		}
		for i, k := range next.keys[zone] {
			if known := r.find(zone, k.public); known != nil && known.sameTimes(k) {
				next.keys[zone][i] = known
			}
		}
	}
	notes = append(notes, next.reconcileAll(zones, now)...)
	for zone, rec := range next.records {
		if before := r.records[zone]; before != nil {
			rec.Roll.Resume(before.Roll)
			rec.Way.Resume(before.Way)
		}
	}
	return next, notes, nil
}

func (r *Keyring) reconcileAll(zones map[string]bool, now time.Time) (notes []error) {
	for _, zone := range sortedKeys(zones) {
		notes = append(notes, r.reconcile(zone, now)...)
	}
	return notes
}

// reconcile brings the record of a zone in line with its files. A key whose files are gone counts as withdrawn while
// the zone has others: it does not come back from a peer. If all files of the zone are gone, the keys count as lost
// and stay in the record.
func (r *Keyring) reconcile(zone string, now time.Time) (notes []error) {
	rec, known, err := readRecord(r.dir, zone)
	if err != nil {
		notes = append(notes, fmt.Errorf("%w; it is made again from the key files", err))
	}
	before, published := slices.Clone(rec.Entries), rec.published()
	r.records[zone] = rec
	for _, k := range r.keys[zone] {
		switch e := rec.of(k.public); {
		case e == nil && !known: // of an older release, or a backup without records
			rec.note(k, k.created, false)
		case e == nil || !e.Withdrawn.IsZero():
			rec.note(k, now, false)
		}
	}
	for _, e := range slices.Clone(rec.Entries) {
		switch gone := e.Withdrawn.IsZero() && r.find(zone, e.Public) == nil && !r.isDamaged(zone, e.Tag); {
		case gone && e.Provisional: // a crash while it was made
			rec.forget(e.Public)
		case gone && len(r.keys[zone]) > 0:
			rec.withdraw(e.Public, now)
			rec.endSet(published, published, now)
			notes = append(notes,
				fmt.Errorf(
					"the files of key %d of %s were taken away: it is no longer published, and does not come back from other nodes",
					e.Tag, zone))
		}
	}
	if !slices.EqualFunc(before, rec.Entries, sameEntry) {
		if err := rec.keep(r.dir, zone); err != nil {
			notes = append(notes, err)
		}
	}
	return notes
}

func sameEntry(a, b entry) bool {
	return slices.Equal(a.Public, b.Public) && a.Provisional == b.Provisional && a.Published.Equal(b.Published) &&
		a.Withdrawn.Equal(b.Withdrawn)
}

// keyNames returns the names, without ending, of keys with at least one file.
func keyNames(entries []fs.DirEntry) []string {
	var names []string
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), publicEnding)
		if !ok {
			name, ok = strings.CutSuffix(e.Name(), privateEnding)
		}
		if ok && strings.HasPrefix(name, "K") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Keys returns the keys of a zone, the oldest first. The slice is never changed.
func (r *Keyring) Keys(zone string) []*Key { return r.keys[dns.CanonicalName(zone)] }

// Damage names all key files that cannot be used; nil for none.
func (r *Keyring) Damage() error {
	var all []error
	for _, base := range sortedKeys(r.damaged) {
		all = append(all, r.damaged[base])
	}
	return errors.Join(all...)
}

func (r *Keyring) isDamaged(zone string, tag uint16) bool {
	return r.damaged[fileName(zone, ECDSAP256SHA256, tag)] != nil || r.damaged[fileName(zone, ED25519, tag)] != nil
}

// damagedIn reports whether a zone has unusable files, by their names.
func (r *Keyring) damagedIn(zone string) bool {
	prefix, _, _ := strings.Cut(fileName(zone, 0, 0), "+")
	for base := range r.damaged {
		if name, _, _ := strings.Cut(base, "+"); name == prefix {
			return true
		}
	}
	return false
}

// ErrTooManyKeys is returned by Add for a zone that has MaxKeys already.
var ErrTooManyKeys = errors.New("the zone has as many keys as may be published")

// errTagTaken reports a key with the tag of another key of its zone. File names contain the tag, so there can be only
// one.
var errTagTaken = errors.New("another key of the zone has this key tag")

func (r *Keyring) find(zone string, public []byte) *Key {
	for _, k := range r.keys[zone] {
		if slices.Equal(k.public, public) {
			return k
		}
	}
	return nil
}

// recordOf returns the record of a zone, an empty one if there is none.
func (r *Keyring) recordOf(zone string) *record {
	if r.records[zone] == nil {
		r.records[zone] = &record{}
	}
	return r.records[zone]
}

// Add stores a key on disk before it returns. A key that exists already is no error. Damaged files in its place are
// set aside. On another error the zone and its record are as before.
func (r *Keyring) Add(k *Key, now time.Time, provisional bool) error {
	if r.find(k.zone, k.public) != nil {
		return nil
	}
	if len(r.keys[k.zone]) >= MaxKeys {
		return fmt.Errorf("key %d of %s: %w (%d)", k.tag, k.zone, ErrTooManyKeys, MaxKeys)
	}
	for _, other := range r.keys[k.zone] {
		if other.tag == k.tag {
			return fmt.Errorf("key %d of %s: %w", k.tag, k.zone, errTagTaken)
		}
	}
	next := r.recordOf(k.zone).copy()
	if e := next.of(k.public); e == nil || e.Provisional != provisional || !e.Withdrawn.IsZero() {
		next.note(k, now, provisional)
	}
	return r.store(k, next)
}

// store writes a key, and next, which has an entry for it, as the record of its zone. On an error the zone and its
// record are as before.
func (r *Keyring) store(k *Key, next *record) (err error) {
	private, err := k.privateText()
	if err != nil {
		return err
	}
	base := filepath.Join(r.dir, k.FileName())
	if err := r.setAside(k.FileName()); err != nil {
		return err
	}
	rec := r.recordOf(k.zone)
	// The record comes first: a provisional key must never be found unmarked.
	if err := next.keep(r.dir, k.zone); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(base + publicEnding)
			os.Remove(base + privateEnding)
			_ = rec.keep(r.dir, k.zone) // where the disk is full, the next one that succeeds mends it
		}
	}()
	// The private key comes first: alone it is reported as damaged, and never lost.
	if err := durable.WriteFile(base+privateEnding, private, 0o600); err != nil {
		return fmt.Errorf("keeping key %d of %s: %w", k.tag, k.zone, err)
	}
	if err := durable.WriteFile(base+publicEnding, k.publicText(), 0o644); err != nil {
		return fmt.Errorf("keeping key %d of %s: %w", k.tag, k.zone, err)
	}
	*rec = *next // nothing can fail from here on
	r.insert(k)
	return nil
}

// asideEnding is appended to the names of key files that are no longer used.
const asideEnding = ".aside"

// setAside renames damaged files of that name, so that nothing overwrites them.
func (r *Keyring) setAside(name string) error {
	if _, damaged := r.damaged[name]; !damaged {
		return nil
	}
	if err := r.moveAside(name); err != nil {
		return err
	}
	delete(r.damaged, name)
	return nil
}

func (r *Keyring) moveAside(name string) error {
	for _, ending := range []string{publicEnding, privateEnding} {
		path := filepath.Join(r.dir, name+ending)
		if err := os.Rename(path, path+asideEnding); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("setting a key file aside: %w", err)
		}
	}
	return durable.SyncDir(r.dir)
}

// Withdraw takes a key out of its zone. Its files are set aside, and it does not come back from a peer.
func (r *Keyring) Withdraw(k *Key, now time.Time) error {
	if err := r.moveAside(k.FileName()); err != nil {
		return err
	}
	r.remove(k)
	rec := r.recordOf(k.zone)
	rec.withdraw(k.public, now)
	return rec.keep(r.dir, k.zone)
}

// Discard deletes a key whose DS no parent was offered, such as a provisional one.
func (r *Keyring) Discard(k *Key) error {
	for _, ending := range []string{publicEnding, privateEnding} {
		if err := os.Remove(filepath.Join(r.dir, k.FileName()+ending)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("discarding a provisional key: %w", err)
		}
	}
	r.remove(k)
	rec := r.recordOf(k.zone)
	rec.forget(k.public)
	return errors.Join(durable.SyncDir(r.dir), rec.keep(r.dir, k.zone))
}

// Settle makes the provisional keys of a zone final. It reports whether there were any.
func (r *Keyring) Settle(zone string) (changed bool, err error) {
	rec := r.recordOf(zone)
	for i := range rec.Entries {
		if rec.Entries[i].Provisional {
			rec.Entries[i].Provisional, changed = false, true
		}
	}
	if changed {
		err = rec.keep(r.dir, zone)
	}
	return changed, err
}

// SetApart notes whether a zone's keys were made while other nodes could not be asked.
func (r *Keyring) SetApart(zone string, apart bool) error {
	rec, changed := r.recordOf(zone), false
	for i := range rec.Entries {
		if e := &rec.Entries[i]; e.Apart != apart && e.Withdrawn.IsZero() {
			e.Apart, changed = apart, true
		}
	}
	if !changed {
		return nil
	}
	return rec.keep(r.dir, zone)
}

// madeApart reports whether SetApart has marked a key that the zone has.
func (r *Keyring) madeApart(zone string) bool {
	rec := r.recordOf(zone)
	return slices.ContainsFunc(r.Keys(zone), func(k *Key) bool {
		e := rec.of(k.public)
		return e != nil && e.Apart
	})
}

// Lost lists the tags of keys whose files are all gone.
func (r *Keyring) Lost(zone string) (tags []uint16) {
	if len(r.keys[zone]) > 0 || r.records[zone] == nil {
		return nil
	}
	for _, e := range r.records[zone].Entries {
		if e.Withdrawn.IsZero() {
			tags = append(tags, e.Tag)
		}
	}
	return tags
}

// addFirst is Add for a zone without keys. Lost keys leave its record, so that a peer's copy of one is accepted.
func (r *Keyring) addFirst(k *Key, now time.Time, provisional bool) error {
	next := r.recordOf(k.zone).copy()
	had := len(next.Entries)
	next.Entries = slices.DeleteFunc(next.Entries, func(e entry) bool { return e.Withdrawn.IsZero() })
	if len(next.Entries) < had {
		next.LostAt = now.UTC()
	}
	next.note(k, now, provisional)
	return r.store(k, next)
}

// lostSince reports whether the keys of a zone were lost after the given time and none of them has come back.
func (r *Keyring) lostSince(zone string, since time.Time) bool {
	at := r.recordOf(zone).LostAt
	return !at.IsZero() && at.After(since) && !slices.ContainsFunc(r.Keys(zone),
		func(k *Key) bool { return k.created.Before(at.Truncate(time.Second)) })
}

func (r *Keyring) insert(k *Key) {
	keys := append(slices.Clone(r.keys[k.zone]), k)
	slices.SortFunc(keys, older)
	r.keys[k.zone] = keys
}

func (r *Keyring) remove(k *Key) {
	r.keys[k.zone] = slices.DeleteFunc(slices.Clone(r.keys[k.zone]), func(other *Key) bool { return other == k })
}
