package dnssec

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gslb.internal/overwatch/internal/answer/dnssec/roll"
	"gslb.internal/shared/durable"
)

// recordEnding is the suffix of a zone's record file, which lists all keys that the zone has or had. It preserves
// information that key files lose: missing files and the time of first publication.
const recordEnding = ".record"

// Bounds of a record: file size in octets, and number of withdrawn keys.
const (
	maxRecord    = 64 << 10
	maxWithdrawn = 16
)

// record is the history of a zone's keys. It contains no secret.
type record struct {
	Entries []entry `json:"keys"`
	// LostAt is the creation time of the first key after all keys were lost; zero if this never happened.
	LostAt time.Time `json:"lost_at,omitzero"`
	// Roll is this node's progress in the key rollover; nil if there was none.
	Roll *roll.Progress `json:"roll,omitempty"`
	// Transition is this node's progress in the signing transition; nil if the zone was always signed.
	Transition *roll.Progress `json:"way,omitempty"`
	// Past contains the previous sets of keys, the oldest first; ParentDS the DS sets observed at the parent.
	Past     []pastKeys `json:"past,omitempty"`
	ParentDS []parentDS `json:"parent_ds,omitempty"`
}

// entry is a key that the zone has or had.
type entry struct {
	Tag         uint16    `json:"key_tag"`
	Public      []byte    `json:"public_key"`
	Published   time.Time `json:"published"`             // time since which this node publishes the key
	Provisional bool      `json:"provisional,omitempty"` // created here; peers have not been queried since
	// Apart: peers were unreachable when the key was created and have not answered since.
	Apart     bool      `json:"made_apart,omitempty"`
	Withdrawn time.Time `json:"withdrawn,omitzero"` // time of withdrawal; zero for a current key
}

// copy returns a copy. Roll and Transition are shared.
func (r *record) copy() *record {
	c := *r
	c.Entries = slices.Clone(r.Entries)
	return &c
}

// entryOf returns the entry of a key; nil if missing.
func (r *record) entryOf(public []byte) *entry {
	for i := range r.Entries {
		if slices.Equal(r.Entries[i].Public, public) {
			return &r.Entries[i]
		}
	}
	return nil
}

// addEntry adds an entry for a key, and replaces a withdrawn entry.
func (r *record) addEntry(k *Key, now time.Time, provisional bool) {
	r.deleteEntry(k.public)
	r.Entries = append(r.Entries, entry{Tag: k.tag, Public: k.public, Published: now, Provisional: provisional})
}

// deleteEntry deletes the entry of a key.
func (r *record) deleteEntry(public []byte) {
	r.Entries = slices.DeleteFunc(r.Entries, func(e entry) bool { return slices.Equal(e.Public, public) })
}

// withdraw marks a key as withdrawn. It deletes the oldest withdrawn entries that exceed maxWithdrawn.
func (r *record) withdraw(public []byte, now time.Time) {
	if e := r.entryOf(public); e != nil {
		e.Withdrawn, e.Provisional = now, false
	}
	for {
		first, count := -1, 0
		for i, e := range r.Entries {
			if e.Withdrawn.IsZero() {
				continue
			}
			if count++; first < 0 || e.Withdrawn.Before(r.Entries[first].Withdrawn) {
				first = i
			}
		}
		if count <= maxWithdrawn {
			return
		}
		r.Entries = slices.Delete(r.Entries, first, first+1)
	}
}

func (r *record) withdrawn(public []byte) bool {
	e := r.entryOf(public)
	return e != nil && !e.Withdrawn.IsZero()
}

// published returns the keys that are neither provisional nor withdrawn.
func (r *record) published() (all []keyName) {
	for _, e := range r.Entries {
		if e.Withdrawn.IsZero() && !e.Provisional {
			all = append(all, keyName{e.Tag, e.Public})
		}
	}
	return all
}

// hasTag reports whether the zone has or had a key with a tag. File names of two keys with one tag would be equal.
func (r *record) hasTag(tag uint16) bool {
	return slices.ContainsFunc(r.Entries, func(e entry) bool { return e.Tag == tag })
}

// recordPath returns the path of a zone's record file.
func recordPath(dir, zone string) string {
	return filepath.Join(dir, strings.ReplaceAll(strings.TrimSuffix(zone, "."), "/", "%2F")+recordEnding)
}

// readRecord returns the record of a zone. known is false and the record is empty if the file is missing. For an
// invalid file it returns an empty record and an error.
func readRecord(dir, zone string) (r *record, known bool, err error) {
	r = &record{}
	path := recordPath(dir, zone)
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return r, false, nil
	}
	if err != nil {
		return r, false, fmt.Errorf("read the record of a zone's keys: %w", err)
	}
	defer f.Close()
	content := make([]byte, maxRecord)
	n, err := f.Read(content)
	if err == nil {
		r, err = parseRecord(content[:n])
	}
	if err != nil {
		return &record{}, false, fmt.Errorf("record of a zone's keys %s: %w", path, err)
	}
	return r, true, nil
}

func parseRecord(content []byte) (*record, error) {
	r := &record{}
	if err := json.Unmarshal(content, r); err != nil {
		return nil, err
	}
	if len(r.Entries) > maxWithdrawn+MaxKeys {
		return nil, fmt.Errorf("it has %d keys; the maximum is %d", len(r.Entries), maxWithdrawn+MaxKeys)
	}
	if len(r.Past) > maxPast || len(r.ParentDS) > maxParentDS ||
		slices.ContainsFunc(r.ParentDS, func(d parentDS) bool { return len(d.Records) == 0 || len(d.Records) > maxDS }) {
		return nil, errors.New("its previous key sets or DS sets are out of bounds")
	}
	for field, p := range map[string]*roll.Progress{"roll": r.Roll, "way": r.Transition} {
		if p == nil {
			continue
		}
		if err := p.Valid(p.Started); err != nil {
			return nil, fmt.Errorf("%s: %w", field, err)
		}
		if (p.Goal == roll.ToKey) != (p == r.Roll) {
			return nil, fmt.Errorf("%s: it leads to %q", field, p.Goal)
		}
		p.ParentSince = time.Time{} // the parent may have changed since then
	}
	return r, nil
}

// write writes the record of a zone.
func (r *record) write(dir, zone string) error {
	content, err := json.Marshal(r)
	if err == nil {
		err = durable.WriteFile(recordPath(dir, zone), append(content, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("store the record of the keys of %s: %w", zone, err)
	}
	return nil
}
