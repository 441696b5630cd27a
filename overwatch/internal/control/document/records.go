package document

import (
	"encoding/json"
	"slices"
	"strings"

	"gslb.internal/overwatch/internal/control/fault"
	"gslb.internal/overwatch/internal/control/objects"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
)

// recordSection returns the section of records. Its objects are the sets of records with the same name and type,
// without records that expire: an export does not contain them, and an apply neither creates nor deletes them.
func recordSection(k definitions.Declared) *section {
	s := declaredSection(k)
	s.read = elements(func(r *reader, req api.DocumentRecords) (read, error) {
		set, _, err := objects.NewRecordSet(nil, req, model.FromDocument, r.pl.o.Now())
		if err != nil {
			return read{}, err
		}
		if !set.ExpiresAt.IsZero() {
			return read{}, fault.Invalidf("expires_at is set: a document has only records that do not expire; create others " +
				"with POST /api/v1/records")
		}
		return read{s.name, set.Key(), set}, checkOwner(set.Owner)
	})
	s.held = func(_ *Planner, set *definitions.Set) map[string]any {
		all := map[string]any{}
		for key, records := range definitions.RecordSets(set.Records) {
			if one := lastingSet(records); one != nil {
				all[key] = one
			}
		}
		return all
	}
	s.get = func(set *definitions.Set, key string) any {
		name, rtype, _ := strings.Cut(key, " ")
		if one := lastingSet(set.RecordsOf(name, rtype)); one != nil {
			return one
		}
		return nil
	}
	s.put = putRecordSet
	s.check = func(*checker, string, any, any) {}
	s.write = func(_ *Planner, _ string, object any) (any, error) {
		set := object.(*model.RecordSet)
		if strings.Contains(set.Owner, ownerSeparator) {
			mixed := *set
			mixed.Owner = "" // a document that is applied unchanged then changes nothing
			set = &mixed
		}
		return model.Written(set), nil
	}
	s.regions = nil
	s.decode = func(list json.RawMessage) (map[string]any, error) {
		return decodeList(list, func(value []byte) (string, any, error) {
			set, err := model.Decode[model.RecordSet](value)
			if err != nil {
				return "", nil, err
			}
			return set.Key(), set, nil
		})
	}
	return s
}

// lastingSet returns the set of the records that do not expire, or nil. The owner of records with several owners is the
// list of the owners, which no document can have.
func lastingSet(records []*model.Record) *model.RecordSet {
	lasting := slices.DeleteFunc(slices.Clone(records), func(r *model.Record) bool { return !r.ExpiresAt.IsZero() })
	set := objects.RecordSetOf(lasting)
	if set == nil {
		return nil
	}
	var owners []string
	for _, r := range lasting {
		if !slices.Contains(owners, r.Owner) {
			owners = append(owners, r.Owner)
		}
	}
	if len(owners) > 1 {
		slices.Sort(owners)
		set.Owner = strings.Join(owners, ownerSeparator)
	}
	return set
}

// ownerSeparator separates the owners of a set. No owner contains it.
const ownerSeparator = ", "

// putRecordSet replaces the records of a name and type that do not expire by the records of a set, or deletes them if
// the set is nil.
func putRecordSet(d *definitions.Draft, key string, object any) error {
	var records []*model.Record
	if object != nil {
		var err error
		if records, err = objects.RecordsIn(object.(*model.RecordSet)); err != nil {
			return err
		}
	}
	name, rtype, _ := strings.Cut(key, " ")
	before := d.Now().RecordsOf(name, rtype)
	for _, r := range records {
		was := d.Now().Records.Get(r.Key())
		if was != nil && !was.ExpiresAt.IsZero() && was.Owner != r.Owner {
			return fault.Conflictf("record %q expires and has another owner: delete it first, or leave it out of the document",
				r.Key())
		}
	}
	if count := d.Now().Records.Len() + len(records) - len(before); count > definitions.MaxRecords &&
		len(records) > len(before) {
		return fault.Fullf("there would be %d records, and %d are the most", count, definitions.MaxRecords)
	}
	for _, was := range before {
		if was.ExpiresAt.IsZero() {
			d.Delete(model.KindRecord, was.Key())
		}
	}
	for _, r := range records {
		d.Put(r)
	}
	return nil
}
