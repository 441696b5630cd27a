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

// MaxKeys is the maximum number of keys of a zone. It bounds the DNSKEY RRset against files and peers.
const MaxKeys = 3

// Directory returns the directory of the signing keys in a data directory.
func Directory(dataDir string) string { return filepath.Join(dataDir, "dnssec") }

// Keyring holds the keys of this node's zones and owns their directory. It is not safe for concurrent use. The returned
// slices of keys are immutable.
type Keyring struct {
	dir     string
	keys    map[string][]*Key  // by zone; the oldest first
	damaged map[string]error   // by file name without suffix
	records map[string]*record // by zone
}

// OpenKeyring reads all keys in dir, including keys of zones that are not configured, and creates dir if it is missing.
// Damage returns the unusable files. notes are warnings for the log about differences between the files and the records
// of their zones.
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
		return fmt.Errorf("create the DNSSEC key directory: %w", err)
	}
	return nil
}

// Inspect checks the key files in dir without changes. refused prevents the start of a node; damage prevents it unless
// another node has a copy. A missing or unreadable directory has no faults.
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

// readKeyring reads the keys in dir. zones are the zones with files in dir.
func readKeyring(dir string) (r *Keyring, zones map[string]bool, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, nil, fmt.Errorf("read the DNSSEC key directory: %w", err)
	}
	r = &Keyring{dir: dir, keys: make(map[string][]*Key), damaged: make(map[string]error),
		records: make(map[string]*record)}
	zones = make(map[string]bool)
	for _, base := range keyNames(entries) {
		k, err := readKey(filepath.Join(dir, base))
		switch {
		case errors.Is(err, errOpenToOthers):
			return nil, nil, err // the key may be compromised, so the operator must decide
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
					"DNSSEC key directory %s: %d keys for %s, at most %d can be published; move the files of keys that are not "+
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

// reload reads the directory. Unchanged keys remain the same pointers. A zone without files retains its keys, and notes
// has an entry for it. A rollover retains its knowledge about the parent. For unusable files, reload returns an error
// and changes nothing.
func (r *Keyring) reload(now time.Time) (next *Keyring, notes []error, err error) {
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
					"the files of all keys of %s are missing in %s: this process uses the loaded keys, and the next start creates a "+
						"new key: restore the files", zone, r.dir))
			continue
		}
		for i, k := range next.keys[zone] {
			if known := r.findKey(zone, k.public); known != nil && known.sameTimes(k) {
				next.keys[zone][i] = known
			}
		}
	}
	notes = append(notes, next.reconcileAll(zones, now)...)
	for zone, rec := range next.records {
		if before := r.records[zone]; before != nil {
			rec.Roll.Resume(before.Roll)
			rec.Transition.Resume(before.Transition)
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

// reconcile updates the record of a zone according to its files. If the zone has other keys, a key without files is
// withdrawn, and peers cannot restore it. If all files of the zone are missing, the keys are lost and remain in the
// record.
func (r *Keyring) reconcile(zone string, now time.Time) (notes []error) {
	rec, known, err := readRecord(r.dir, zone)
	if err != nil {
		notes = append(notes, fmt.Errorf("%w; the record is restored from the key files", err))
	}
	before, published := slices.Clone(rec.Entries), rec.published()
	r.records[zone] = rec
	for _, k := range r.keys[zone] {
		switch e := rec.entryOf(k.public); {
		case e == nil && !known: // from an older release or a backup without records
			rec.addEntry(k, k.created, false)
		case e == nil || !e.Withdrawn.IsZero():
			rec.addEntry(k, now, false)
		}
	}
	for _, e := range slices.Clone(rec.Entries) {
		switch gone := e.Withdrawn.IsZero() && r.findKey(zone, e.Public) == nil && !r.isDamaged(zone, e.Tag); {
		case gone && e.Provisional: // crash during its creation
			rec.deleteEntry(e.Public)
		case gone && len(r.keys[zone]) > 0:
			rec.withdraw(e.Public, now)
			rec.endSet(published, published, now)
			notes = append(notes,
				fmt.Errorf(
					"the files of key %d of %s were removed: the key is withdrawn, also from other nodes' copies",
					e.Tag, zone))
		}
	}
	if !slices.EqualFunc(before, rec.Entries, sameEntry) {
		if err := rec.write(r.dir, zone); err != nil {
			notes = append(notes, err)
		}
	}
	return notes
}

func sameEntry(a, b entry) bool {
	return slices.Equal(a.Public, b.Public) && a.Provisional == b.Provisional && a.Published.Equal(b.Published) &&
		a.Withdrawn.Equal(b.Withdrawn)
}

// keyNames returns the names, without suffix, of keys with at least one file.
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

// Keys returns the keys of a zone, the oldest first. The slice is immutable.
func (r *Keyring) Keys(zone string) []*Key { return r.keys[dns.CanonicalName(zone)] }

// Damage returns an error that lists all unusable key files; nil if there are none.
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

// damagedIn reports whether a zone has unusable files, according to their names.
func (r *Keyring) damagedIn(zone string) bool {
	prefix, _, _ := strings.Cut(fileName(zone, 0, 0), "+")
	for base := range r.damaged {
		if name, _, _ := strings.Cut(base, "+"); name == prefix {
			return true
		}
	}
	return false
}

// ErrTooManyKeys is returned by Add for a zone with MaxKeys keys.
var ErrTooManyKeys = errors.New("the zone has the maximum number of keys")

// errTagTaken means that another key of the zone has the same tag. File names contain the tag, so tags must be unique.
var errTagTaken = errors.New("another key of the zone has this key tag")

func (r *Keyring) findKey(zone string, public []byte) *Key {
	for _, k := range r.keys[zone] {
		if slices.Equal(k.public, public) {
			return k
		}
	}
	return nil
}

// recordOf returns the record of a zone, and creates an empty record if necessary.
func (r *Keyring) recordOf(zone string) *record {
	if r.records[zone] == nil {
		r.records[zone] = &record{}
	}
	return r.records[zone]
}

// Add stores a key on disk, unless the keyring contains the key. Add renames damaged files of the key. After an error,
// the zone and its record are unchanged.
func (r *Keyring) Add(k *Key, now time.Time, provisional bool) error {
	if r.findKey(k.zone, k.public) != nil {
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
	if e := next.entryOf(k.public); e == nil || e.Provisional != provisional || !e.Withdrawn.IsZero() {
		next.addEntry(k, now, provisional)
	}
	return r.store(k, next)
}

// store writes a key and its record. next must contain an entry for the key. After an error, the zone and its record
// are unchanged.
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
	// The record is written first, so that a provisional key is always marked.
	if err := next.write(r.dir, k.zone); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(base + publicEnding)
			os.Remove(base + privateEnding)
			_ = rec.write(r.dir, k.zone) // if the disk is full, the next successful write restores the record
		}
	}()
	// The private key is written first: without the public file it is reported as damaged, and is never lost.
	if err := durable.WriteFile(base+privateEnding, private, 0o600); err != nil {
		return fmt.Errorf("store key %d of %s: %w", k.tag, k.zone, err)
	}
	if err := durable.WriteFile(base+publicEnding, k.publicText(), 0o644); err != nil {
		return fmt.Errorf("store key %d of %s: %w", k.tag, k.zone, err)
	}
	*rec = *next // the remaining steps cannot fail
	r.insert(k)
	return nil
}

// asideEnding is the suffix of renamed key files that are no longer used.
const asideEnding = ".aside"

// setAside renames damaged files of that name, so that they are not overwritten.
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
			return fmt.Errorf("rename an unused key file: %w", err)
		}
	}
	return durable.SyncDir(r.dir)
}

// Withdraw removes a key from its zone and renames its files. Peers cannot restore the key.
func (r *Keyring) Withdraw(k *Key, now time.Time) error {
	if err := r.moveAside(k.FileName()); err != nil {
		return err
	}
	r.remove(k)
	rec := r.recordOf(k.zone)
	rec.withdraw(k.public, now)
	return rec.write(r.dir, k.zone)
}

// Discard deletes a key that was not offered to a parent, such as a provisional key.
func (r *Keyring) Discard(k *Key) error {
	for _, ending := range []string{publicEnding, privateEnding} {
		if err := os.Remove(filepath.Join(r.dir, k.FileName()+ending)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("delete a provisional key: %w", err)
		}
	}
	r.remove(k)
	rec := r.recordOf(k.zone)
	rec.deleteEntry(k.public)
	return errors.Join(durable.SyncDir(r.dir), rec.write(r.dir, k.zone))
}

// FinalizeProvisional makes the provisional keys of a zone final. It reports whether there were any.
func (r *Keyring) FinalizeProvisional(zone string) (changed bool, err error) {
	rec := r.recordOf(zone)
	for i := range rec.Entries {
		if rec.Entries[i].Provisional {
			rec.Entries[i].Provisional, changed = false, true
		}
	}
	if changed {
		err = rec.write(r.dir, zone)
	}
	return changed, err
}

// SetApart records whether the keys of a zone were created while peers were unreachable.
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
	return rec.write(r.dir, zone)
}

// madeApart reports whether a key of the zone is marked by SetApart.
func (r *Keyring) madeApart(zone string) bool {
	rec := r.recordOf(zone)
	return slices.ContainsFunc(r.Keys(zone), func(k *Key) bool {
		e := rec.entryOf(k.public)
		return e != nil && e.Apart
	})
}

// Lost returns the tags of the keys of a zone without any key files.
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

// addFirst is Add for a zone without keys. It removes lost keys from the record, so that copies from peers are
// accepted.
func (r *Keyring) addFirst(k *Key, now time.Time, provisional bool) error {
	next := r.recordOf(k.zone).copy()
	had := len(next.Entries)
	next.Entries = slices.DeleteFunc(next.Entries, func(e entry) bool { return e.Withdrawn.IsZero() })
	if len(next.Entries) < had {
		next.LostAt = now.UTC()
	}
	next.addEntry(k, now, provisional)
	return r.store(k, next)
}

// lostSince reports whether the keys of a zone were lost after since and none of them was restored.
func (r *Keyring) lostSince(zone string, since time.Time) bool {
	at := r.recordOf(zone).LostAt
	return !at.IsZero() && at.After(since) && !slices.ContainsFunc(r.Keys(zone),
		func(k *Key) bool { return k.created.Before(at.Truncate(time.Second)) })
}

func (r *Keyring) insert(k *Key) {
	keys := append(slices.Clone(r.keys[k.zone]), k)
	slices.SortFunc(keys, compareAge)
	r.keys[k.zone] = keys
}

func (r *Keyring) remove(k *Key) {
	r.keys[k.zone] = slices.DeleteFunc(slices.Clone(r.keys[k.zone]), func(other *Key) bool { return other == k })
}
