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

// recordEnding ends the name of a zone's record file, which lists the keys that the zone has had. It stands beside
// the key files and keeps what they cannot: lost files, and the time of first publication.
const recordEnding = ".record"

// Bounds of a record: its file in octets, and how many keys that were taken away it remembers.
const (
	maxRecord    = 64 << 10
	maxWithdrawn = 16
)

// record is the memory of a zone's keys beside the keys themselves. It holds no secret.
type record struct {
	Entries []entry `json:"keys"`
	// LostAt is the time when a first key was made after all others had been lost; zero: never.
	LostAt time.Time `json:"lost_at,omitzero"`
	// Roll is this node's progress in the change of the zone's key; nil: there was none.
	Roll *roll.Progress `json:"roll,omitempty"`
	// Way is this node's progress in making the zone signed or unsigned; nil: it was always signed.
	Way *roll.Progress `json:"way,omitempty"`
	// Past has the previous key sets, the oldest first, and ParentDS the DS sets that were seen at the parent.
	Past     []pastKeys `json:"past,omitempty"`
	ParentDS []parentDS `json:"parent_ds,omitempty"`
}

// entry is one key that the zone has or had.
type entry struct {
	Tag         uint16    `json:"key_tag"`
	Public      []byte    `json:"public_key"`
	Published   time.Time `json:"published"`             // time from which this node has it in the DNSKEY RRset
	Provisional bool      `json:"provisional,omitempty"` // made here, and the peers have not been asked since
	// other nodes could not be asked when it was made, and have not answered since
	Apart     bool      `json:"made_apart,omitempty"`
	Withdrawn time.Time `json:"withdrawn,omitzero"` // time from which it is no key of the zone any more; zero: it is one
}

// copy returns a record that can be changed apart from this one, but for the insides of Roll and Way.
func (r *record) copy() *record {
	c := *r
	c.Entries = slices.Clone(r.Entries)
	return &c
}

// of returns the entry of a key, nil if it has none.
func (r *record) of(public []byte) *entry {
	for i := range r.Entries {
		if slices.Equal(r.Entries[i].Public, public) {
			return &r.Entries[i]
		}
	}
	return nil
}

// note adds an entry for a key, or revives one that was withdrawn.
func (r *record) note(k *Key, now time.Time, provisional bool) {
	r.forget(k.public)
	r.Entries = append(r.Entries, entry{Tag: k.tag, Public: k.public, Published: now, Provisional: provisional})
}

// forget deletes the entry of a key.
func (r *record) forget(public []byte) {
	r.Entries = slices.DeleteFunc(r.Entries, func(e entry) bool { return slices.Equal(e.Public, public) })
}

// withdraw marks a key as withdrawn. The oldest of too many are forgotten.
func (r *record) withdraw(public []byte, now time.Time) {
	if e := r.of(public); e != nil {
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
	e := r.of(public)
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

// hasTag reports whether the zone has or had a key of that tag. Two keys of one tag would have the same file names.
func (r *record) hasTag(tag uint16) bool {
	return slices.ContainsFunc(r.Entries, func(e entry) bool { return e.Tag == tag })
}

// recordPath returns the file of a zone's record.
func recordPath(dir, zone string) string {
	return filepath.Join(dir, strings.ReplaceAll(strings.TrimSuffix(zone, "."), "/", "%2F")+recordEnding)
}

// readRecord returns the record of a zone. Without a file it is empty and known is false. A file that cannot be
// parsed is an error beside an empty record.
func readRecord(dir, zone string) (r *record, known bool, err error) {
	r = &record{}
	path := recordPath(dir, zone)
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return r, false, nil
	}
	if err != nil {
		return r, false, fmt.Errorf("reading the record of a zone's keys: %w", err)
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
		return nil, fmt.Errorf("it has %d keys, at most %d are kept", len(r.Entries), maxWithdrawn+MaxKeys)
	}
	if len(r.Past) > maxPast || len(r.ParentDS) > maxParentDS ||
		slices.ContainsFunc(r.ParentDS, func(d parentDS) bool { return len(d.Records) == 0 || len(d.Records) > maxDS }) {
		return nil, errors.New("its previous key sets or DS sets are out of bounds")
	}
	for field, p := range map[string]*roll.Progress{"roll": r.Roll, "way": r.Way} {
		if p == nil {
			continue
		}
		if err := p.Valid(p.Started); err != nil {
			return nil, fmt.Errorf("%s: %w", field, err)
		}
		if (p.Way == roll.ToKey) != (p == r.Roll) {
			return nil, fmt.Errorf("%s: it leads to %q", field, p.Way)
		}
		p.ParentSince = time.Time{} // the parent may have changed since
	}
	return r, nil
}

// keep writes the record of a zone.
func (r *record) keep(dir, zone string) error {
	content, err := json.Marshal(r)
	if err == nil {
		err = durable.WriteFile(recordPath(dir, zone), append(content, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("keeping the record of the keys of %s: %w", zone, err)
	}
	return nil
}
