package objects

import (
	"fmt"
	"slices"
	"time"

	"gslb.internal/overwatch/internal/control/fault"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
)

// NewRecordSet returns the set of records of a request in canonical form, and its records. Omitted fields have their
// values in base, or their defaults if base is nil.
func NewRecordSet(base *model.RecordSet, req api.RecordSetChange, source string, now time.Time) (*model.RecordSet,
	[]*model.Record, error) {
	set := model.New[model.RecordSet]()
	if base != nil {
		*set = *base
	}
	if err := definitions.ApplyPatch(set, req, source); err != nil {
		return nil, nil, fault.FromCheck(err)
	}
	var err error
	if set.Name, set.Type, err = definitions.ParseRecordSet(set.Name, set.Type); err != nil {
		return nil, nil, fault.FromCheck(err)
	}
	if len(set.Data) == 0 {
		return nil, nil, fault.Invalidf("data is missing: it must have the data of at least one record")
	}
	if !set.ExpiresAt.IsZero() {
		if set.ExpiresAt = api.Stamp(set.ExpiresAt); !set.ExpiresAt.After(now) {
			return nil, nil, fault.Invalidf("expires_at is %s: it must be in the future",
				set.ExpiresAt.Format(time.RFC3339))
		}
	}
	records, err := RecordsIn(set)
	if err != nil {
		return nil, nil, err
	}
	set.Data = set.Data[:0:0]
	for _, r := range records {
		set.Data = append(set.Data, r.Data)
	}
	return set, records, nil
}

// RecordsIn returns the records of a set in the order of their data, without duplicates.
func RecordsIn(set *model.RecordSet) ([]*model.Record, error) {
	records := make([]*model.Record, 0, len(set.Data))
	seen := make(map[string]bool, len(set.Data))
	for i, data := range set.Data {
		r, err := definitions.NewRecord(set.Name, set.Type, data, set.TTL)
		if err != nil {
			return nil, fault.FromCheck(fmt.Errorf("data[%d]: %w", i, err))
		}
		if seen[r.Data] {
			continue
		}
		seen[r.Data] = true
		r.ExpiresAt, r.Meta = set.ExpiresAt, set.Meta
		records = append(records, r)
	}
	slices.SortFunc(records, definitions.CompareRecords)
	return records, nil
}

// RecordSetOf returns the set of records of a name and type; nil without records. Its TTL is the lowest TTL. Owner and
// ExpiresAt are empty if the records differ.
func RecordSetOf(records []*model.Record) *model.RecordSet {
	if len(records) == 0 {
		return nil
	}
	first := records[0]
	set := &model.RecordSet{Name: first.Name, Type: first.Type, TTL: first.TTL, ExpiresAt: first.ExpiresAt,
		Meta: model.Meta{Owner: first.Owner, CreatedAt: first.CreatedAt, UpdatedAt: first.UpdatedAt}}
	for _, r := range records {
		set.TTL, set.Data = min(set.TTL, r.TTL), append(set.Data, r.Data)
		if r.Owner != set.Owner {
			set.Owner = ""
		}
		if !r.ExpiresAt.Equal(set.ExpiresAt) {
			set.ExpiresAt = time.Time{}
		}
		if r.CreatedAt.Before(set.CreatedAt) {
			set.CreatedAt = r.CreatedAt
		}
		if r.UpdatedAt.After(set.UpdatedAt) {
			set.UpdatedAt = r.UpdatedAt
		}
	}
	return set
}
