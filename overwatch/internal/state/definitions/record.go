package definitions

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"gslb.internal/overwatch/internal/leaf/shardmap"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/overwatch/internal/state/zonefile"
	"gslb.internal/shared/model"
)

// Records are the records of the API by key.
type Records = shardmap.Map[*model.Record]

// recordKind is the kind of records. There may be many, so they are in a map that is cheap to copy.
type recordKind struct{ objects[model.Record] }

func newRecordKind() *recordKind {
	return &recordKind{objects[model.Record]{kind: model.KindOf(model.KindRecord), most: MaxRecords, check: CheckRecord,
		changed: func(k *Kinds) { k.Answers = true }}}
}

// NewRecord returns a record in canonical form. Package publish determines whether it can be served.
func NewRecord(name, rtype, data string, ttl int) (*model.Record, error) {
	if len(data) > model.MaxRecordData {
		return nil, fmt.Errorf("data has %d characters: at most %d are allowed", len(data), model.MaxRecordData)
	}
	rr, err := zonefile.Parse(name, strings.ToUpper(rtype), data, uint32(min(max(ttl, 0), math.MaxInt32)))
	if err != nil {
		return nil, err
	}
	r := &model.Record{TTL: ttl}
	r.Name, r.Type, r.Data = zonefile.Canonical(rr)
	switch {
	case len(r.Name) > model.MaxRecordName:
		return nil, fmt.Errorf("name has %d characters: at most %d are allowed", len(r.Name), model.MaxRecordName)
	case len(r.Data) > model.MaxRecordData:
		return nil, fmt.Errorf("data has %d characters: at most %d are allowed", len(r.Data), model.MaxRecordData)
	}
	return r, nil
}

// ParseRecordSet returns an owner name and a type in canonical form.
func ParseRecordSet(name, rtype string) (canonicalName, canonicalType string, err error) {
	return zonefile.ParseSet(name, rtype)
}

// CheckRecord returns the first fault of a record that is independent of other definitions and of the configuration
// file.
func CheckRecord(r *model.Record) error {
	if problems := model.Bounds(r); len(problems) > 0 {
		return fieldError(problems)
	}
	same, err := NewRecord(r.Name, r.Type, r.Data, r.TTL)
	if err == nil && same.Key() != r.Key() {
		err = fmt.Errorf("record is %.300q: its canonical form is %.300q", r.Key(), same.Key())
	}
	return errors.Join(err, CheckOwner(r.Owner))
}

// RecordSets returns the records of a Set by the key of their set, each in the order of their data.
func RecordSets(records *Records) map[string][]*model.Record {
	all := make(map[string][]*model.Record, records.Len())
	for _, r := range records.All() {
		all[r.Set()] = append(all[r.Set()], r)
	}
	for _, list := range all {
		sortByData(list)
	}
	return all
}

func sortByData(list []*model.Record) { slices.SortFunc(list, CompareRecords) }

// CompareRecords orders records by name, type and data.
func CompareRecords(a, b *model.Record) int {
	return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Type, b.Type), strings.Compare(a.Data, b.Data))
}

// RecordsOf returns the records of a name and type in canonical form, in the order of their data.
func (s *Set) RecordsOf(name, rtype string) (list []*model.Record) {
	for _, r := range s.Records.Beside(name) {
		if r.Type == rtype {
			list = append(list, r)
		}
	}
	sortByData(list)
	return list
}

// RecordsAt returns the records of a name in canonical form, in no particular order.
func (s *Set) RecordsAt(name string) (list []*model.Record) {
	for _, r := range s.Records.Beside(name) {
		list = append(list, r)
	}
	return list
}

func (k *recordKind) Objects(s *Set) map[string]model.Object {
	list := make(map[string]model.Object, s.Records.Len())
	for key, r := range s.Records.All() {
		list[key] = r
	}
	return list
}

func (k *recordKind) Get(s *Set, key string) model.Object {
	if r := s.Records.Get(key); r != nil {
		return r
	}
	return nil
}

func (k *recordKind) Define(d *Draft, name string, value json.RawMessage) error {
	if value == nil {
		d.records().Delete(name)
		return nil
	}
	r, err := model.Decode[model.Record](value)
	if err != nil {
		return fmt.Errorf("it cannot be read: %w", err)
	}
	d.records().Put(r.Key(), r)
	return nil
}

func (k *recordKind) load(s *Set, _ string, value []byte) error {
	r, err := model.Decode[model.Record](value)
	if err == nil && r.Key() == "" {
		err = errors.New("it has no name or type")
	}
	if err != nil {
		return err
	}
	if s.Records == nil {
		s.Records = new(Records)
	}
	s.Records.Put(r.Key(), r)
	return nil
}

func (k *recordKind) Differences(before, after *Set) []string {
	return slices.Collect(shardmap.Changes(before.Records, after.Records))
}

func (k *recordKind) save(b *store.Batch, s *Set, name string) {
	if r := s.Records.Get(name); r != nil {
		b.PutObject(model.KindRecord, r)
	} else {
		b.Delete(model.KindRecord, name)
	}
}

// hide hides no record: package publish omits the records that the file or a domain excludes.
func (k *recordKind) hide(*Draft) {}

func (k *recordKind) join(s *Set, j *joining) { j.result = j.result.WithRecords(s.Records) }

func (k *recordKind) Unused(*Set, string, func(region string) bool) string { return "" }

func (k *recordKind) put(d *Draft, o model.Object) bool {
	r, is := o.(*model.Record)
	if is {
		d.records().Put(r.Key(), r)
	}
	return is
}

// records returns the records of a draft, which the caller may change.
func (d *Draft) records() *Records {
	if !d.owned[model.KindRecord] {
		d.markCopied(model.KindRecord)
		d.next.Records = d.next.Records.Edit()
	}
	return d.next.Records
}
