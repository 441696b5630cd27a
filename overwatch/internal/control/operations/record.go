package operations

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"gslb.internal/overwatch/internal/control/changes"
	"gslb.internal/overwatch/internal/control/fault"
	"gslb.internal/overwatch/internal/control/objects"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
)

// RecordEdit contains the changes of records of the API that ChangeRecords makes together.
type RecordEdit struct {
	// Put contains records in canonical form (definitions.NewRecord). Each is added, or replaces the record with its key.
	// ChangeRecords sets the times of creation and change.
	Put []*model.Record
	// Delete contains keys of records. A missing record is not an error.
	Delete []string
}

// errSameRecords is the result of an edit without an effect.
var errSameRecords error = fault.Conflictf("the records are unchanged")

// ChangeRecords changes records of the API atomically, with one audit entry, and returns when DNS answers contain the
// change. edit returns the changes for the current definitions; its error rejects the change. edit may be called more
// than once, by another goroutine, and must not block. A change without an effect has no audit entry.
func (op *Operations) ChangeRecords(r *Request, edit func(now *definitions.Set) (RecordEdit, error)) error {
	return op.changeRecords(r, &Change{Resource: recordResource}, edit)
}

// recordResource is the resource of changes of records in the audit log.
const recordResource = "record"

func (op *Operations) changeRecords(r *Request, ch *Change, edit func(*definitions.Set) (RecordEdit, error)) error {
	now := api.Stamp(op.o.Now())
	err := op.Define(r, ch, func(d *definitions.Draft) error {
		wanted, err := edit(d.Now())
		if err != nil {
			return err
		}
		before, after, err := wanted.effect(d.Now(), now)
		if err != nil {
			return err
		}
		if len(before)+len(after) == 0 {
			return errSameRecords
		}
		if count := d.Now().Records.Len() + len(after) - len(before); count > definitions.MaxRecords &&
			len(after) > len(before) {
			return fault.Fullf("the API would have %d records, and %d are the most", count, definitions.MaxRecords)
		}
		ch.describe(before, after)
		for _, one := range before {
			d.Delete(model.KindRecord, one.Key())
		}
		for _, one := range after {
			d.Put(one)
		}
		return nil
	})
	if errors.Is(err, errSameRecords) {
		return nil
	}
	return err
}

// effect returns the records that the edit removes or replaces, and the records that it adds.
func (e *RecordEdit) effect(now *definitions.Set, at time.Time) (before, after recordList, err error) {
	gone, put := make(map[string]bool, len(e.Delete)), make(map[string]*model.Record, len(e.Put))
	for _, key := range e.Delete {
		gone[key] = true
	}
	for _, one := range e.Put {
		if err := definitions.CheckRecord(one); err != nil {
			return nil, nil, fault.FromCheck(err)
		}
		put[one.Key()] = one
		delete(gone, one.Key())
	}
	for key := range gone {
		if was := now.Records.Get(key); was != nil {
			before = append(before, was)
		}
	}
	for key, one := range put {
		made := *one
		made.CreatedAt, made.UpdatedAt = at, at
		if was := now.Records.Get(key); was != nil {
			if was.TTL == one.TTL && was.ExpiresAt.Equal(one.ExpiresAt) && was.Owner == one.Owner {
				continue
			}
			before, made.CreatedAt = append(before, was), was.CreatedAt
		}
		after = append(after, &made)
	}
	slices.SortFunc(before, definitions.CompareRecords)
	slices.SortFunc(after, definitions.CompareRecords)
	return before, after, nil
}

// describe sets the description of a change of records for the audit log.
func (ch *Change) describe(before, after recordList) {
	sets := make(map[string]bool)
	for _, list := range []recordList{before, after} {
		for _, one := range list {
			sets[one.Set()] = true
		}
	}
	names := slices.Sorted(maps.Keys(sets))
	ch.ID, ch.Before, ch.After = strings.Join(names[:min(len(names), maxNamedSets)], ", "), nil, nil
	if more := len(names) - maxNamedSets; more > 0 {
		ch.ID += fmt.Sprintf(" and %d more", more)
	}
	if len(before) > 0 {
		ch.Before = before
	}
	if len(after) > 0 {
		ch.After = after
	}
	if ch.Undoes != 0 {
		return
	}
	switch {
	case len(before) == 0:
		ch.Action = api.AuditCreate
	case len(after) == 0:
		ch.Action = api.AuditDelete
	default:
		ch.Action = api.AuditUpdate
	}
}

// maxNamedSets is the maximum number of names and types that the id of an audit entry lists.
const maxNamedSets = 3

// recordList is a list of records in the form of the audit log, which is the stored form.
type recordList []*model.Record

// MarshalJSON returns the stored forms of the records.
func (l recordList) MarshalJSON() ([]byte, error) {
	list := make([]json.RawMessage, len(l))
	for i, one := range l {
		text, err := model.Encode(one)
		if err != nil {
			return nil, err
		}
		list[i] = text
	}
	return json.Marshal(list)
}

// UnmarshalJSON is the inverse of MarshalJSON.
func (l *recordList) UnmarshalJSON(text []byte) error {
	var list []json.RawMessage
	if err := json.Unmarshal(text, &list); err != nil {
		return err
	}
	for _, one := range list {
		r, err := model.Decode[model.Record](one)
		if err != nil {
			return err
		}
		*l = append(*l, r)
	}
	return nil
}

// AddRecords adds the records of a request to their name and type. It rejects a record that exists.
func (op *Operations) AddRecords(r *Request, req api.RecordSetChange) (after []*model.Record, err error) {
	set, records, err := objects.NewRecordSet(nil, req, model.FromOperator, op.o.Now())
	if err != nil {
		return nil, err
	}
	return op.editSet(r, set.Name, set.Type, func(now []*model.Record) (RecordEdit, error) {
		for _, one := range now {
			if slices.Contains(set.Data, one.Data) {
				return RecordEdit{}, fault.Conflictf("the record %.300q exists: PUT changes it", one.Key())
			}
		}
		return RecordEdit{Put: records}, nil
	})
}

// PutRecords replaces the records of a name and type by the records of a request. With Replace, the fields that the
// request omits get their defaults; without, the records must exist. created reports whether there were none.
func (op *Operations) PutRecords(r *Request, name, rtype string, req api.RecordSetChange) (after []*model.Record,
	created bool, err error) {
	if name, rtype, err = definitions.ParseRecordSet(name, rtype); err != nil {
		return nil, false, fault.FromCheck(err)
	}
	if req, err = withoutKey(req, name, rtype); err != nil {
		return nil, false, err
	}
	after, err = op.editSet(r, name, rtype, func(now []*model.Record) (RecordEdit, error) {
		base := objects.RecordSetOf(now)
		if created = base == nil; created && !r.Replace {
			return RecordEdit{}, errNoRecords(name, rtype)
		}
		if created || r.Replace {
			empty := model.New[model.RecordSet]()
			empty.Name, empty.Type = name, rtype
			if !created {
				empty.Owner = base.Owner
			}
			base = empty
		}
		_, records, err := objects.NewRecordSet(base, req, model.FromOperator, op.o.Now())
		keepMeta(records, now, r.Replace || req.Has("expires_at"))
		return RecordEdit{Put: records, Delete: keysOf(now)}, err
	})
	return after, created, err
}

// keepMeta gives each record that existed before its owner, and its end unless the request sets the end. The records of
// a name and type can have different owners and ends.
func keepMeta(records, before []*model.Record, setsEnd bool) {
	for _, r := range records {
		at := slices.IndexFunc(before, func(was *model.Record) bool { return was.Key() == r.Key() })
		if at < 0 {
			continue
		}
		r.Owner = before[at].Owner
		if !setsEnd {
			r.ExpiresAt = before[at].ExpiresAt
		}
	}
}

// withoutKey returns a request without name and type. It rejects another name or type than those of the path.
func withoutKey(req api.RecordSetChange, name, rtype string) (api.RecordSetChange, error) {
	given := map[string]string{"name": name, "type": rtype}
	for field := range given {
		if text := req.Text(field); text != "" {
			given[field] = text
		}
	}
	if n, t, err := definitions.ParseRecordSet(given["name"], given["type"]); err != nil || n != name || t != rtype {
		return nil, fault.Invalidf("name and type are %.260q and %.20q, and the path has %.260q and %q: leave them out",
			given["name"], given["type"], name, rtype)
	}
	rest := maps.Clone(req)
	delete(rest, "name")
	delete(rest, "type")
	return rest, nil
}

func errNoRecords(name, rtype string) error {
	return fault.NotFoundf("the API has no records of %s with the type %s", name, rtype)
}

// DeleteRecords deletes the record of a name and type with the data, or all records of the name and type if data is "".
func (op *Operations) DeleteRecords(r *Request, name, rtype, data string) error {
	name, rtype, err := definitions.ParseRecordSet(name, rtype)
	if err != nil {
		return fault.FromCheck(err)
	}
	var one *model.Record
	if data != "" {
		if one, err = definitions.NewRecord(name, rtype, data, 0); err != nil {
			return fault.FromCheck(err)
		}
	}
	_, err = op.editSet(r, name, rtype, func(now []*model.Record) (RecordEdit, error) {
		keys := keysOf(now)
		switch {
		case len(keys) == 0:
			return RecordEdit{}, errNoRecords(name, rtype)
		case one == nil:
			return RecordEdit{Delete: keys}, nil
		case !slices.Contains(keys, one.Key()):
			return RecordEdit{}, fault.NotFoundf("the API has no record %.300q", one.Key())
		}
		return RecordEdit{Delete: []string{one.Key()}}, nil
	})
	return err
}

func keysOf(records []*model.Record) (keys []string) {
	for _, one := range records {
		keys = append(keys, one.Key())
	}
	return keys
}

// editSet changes the records of a name and type in canonical form, if they satisfy the condition of the request. It
// returns the records after the change, even if a simultaneous change has replaced them.
func (op *Operations) editSet(r *Request, name, rtype string,
	edit func(now []*model.Record) (RecordEdit, error)) (after []*model.Record, err error) {
	err = op.ChangeRecords(r, func(set *definitions.Set) (RecordEdit, error) {
		now := set.RecordsOf(name, rtype)
		var object any
		if len(now) > 0 {
			object = now
		}
		if err := r.Condition.Holds(object); err != nil {
			return RecordEdit{}, err
		}
		made, err := edit(now)
		after = slices.DeleteFunc(slices.Clone(now), func(one *model.Record) bool {
			return slices.Contains(made.Delete, one.Key()) || slices.ContainsFunc(made.Put, func(put *model.Record) bool {
				return put.Key() == one.Key()
			})
		})
		after = append(after, made.Put...)
		return made, err
	})
	if err != nil {
		return nil, err
	}
	if set, _ := op.o.Definitions.Defined(); len(set.RecordsOf(name, rtype)) > 0 {
		after = set.RecordsOf(name, rtype) // with the times of the change
	}
	return after, nil
}

// undoneRecords returns the edit that undoes the change of an audit entry. Records that have expired since stay
// deleted. It returns an error if one of the records has changed since.
func (op *Operations) undoneRecords(e *api.AuditEntry, now *definitions.Set) (edit RecordEdit, err error) {
	var before, after recordList
	for _, state := range []struct {
		from json.RawMessage
		to   *recordList
	}{{e.Before, &before}, {e.After, &after}} {
		if len(state.from) > 0 && json.Unmarshal(state.from, state.to) != nil {
			return edit, changes.CannotUndo(e, "it does not have the whole object")
		}
	}
	if len(before)+len(after) == 0 {
		return edit, changes.CannotUndo(e, "it changed nothing")
	}
	made := make(map[string]bool)
	for _, one := range after {
		if was := now.Records.Get(one.Key()); was == nil || !objects.Equal(was, one) {
			return edit, changes.ErrChangedSince
		}
		made[one.Key()] = true
		edit.Delete = append(edit.Delete, one.Key())
	}
	for _, one := range before {
		if !made[one.Key()] && now.Records.Get(one.Key()) != nil {
			return edit, changes.ErrChangedSince
		}
		if one.ExpiresAt.IsZero() || one.ExpiresAt.After(op.o.Now()) {
			edit.Put = append(edit.Put, one)
		}
	}
	return edit, nil
}

// undoRecordChange returns the undo of changes of records.
func (op *Operations) undoRecordChange() undoKind {
	return undoKind{role: api.RoleAdmin,
		undo: func(r *Request, e *api.AuditEntry, ch *Change) error {
			return conflictOf(e, op.changeRecords(r, ch, func(now *definitions.Set) (RecordEdit, error) {
				return op.undoneRecords(e, now)
			}))
		},
		check: func(e *api.AuditEntry) error {
			set, _ := op.o.Definitions.Defined()
			_, err := op.undoneRecords(e, set)
			if errors.Is(err, changes.ErrChangedSince) {
				err = op.laterChangeError(e)
			}
			return err
		}}
}
