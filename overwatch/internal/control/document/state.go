package document

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"gslb.internal/overwatch/internal/control/objects"
	"gslb.internal/shared/api"
)

// state holds the changes of an apply: the objects before and after it, and the admin states of removed servers.
type state struct {
	Before, After storedObjects
	Orders        []api.Order `json:",omitempty"`
}

// storedObjects contains the stored form of objects, as a JSON list for each section, by section.state.
type storedObjects map[string]json.RawMessage

// stateOf returns the changed objects of a plan, before and after the change, without admin states.
func stateOf(p *Plan) (st state, err error) {
	before := newObjects()
	for _, s := range sections() {
		for _, touched := range []*Objects{p.put, p.gone} {
			for id := range touched.of[s.name] {
				if object := p.held.of[s.name][id]; object != nil {
					before.of[s.name][id] = object
				}
			}
		}
	}
	if st.Before, err = before.encode(); err != nil {
		return st, err
	}
	st.After, err = p.put.encode()
	return st, err
}

// encode returns the objects as JSON lists by section.
func (o *Objects) encode() (storedObjects, error) {
	lists := storedObjects{}
	for _, s := range sections() {
		if len(o.of[s.name]) == 0 {
			continue
		}
		list, err := s.encode(o.of[s.name])
		if err == nil {
			lists[s.state], err = json.Marshal(list)
		}
		if err != nil {
			return nil, err
		}
	}
	return lists, nil
}

// objects is the inverse of Objects.encode.
func (l storedObjects) objects() (*Objects, error) {
	o := newObjects()
	for _, s := range sections() {
		if l[s.state] == nil {
			continue
		}
		all, err := s.decode(l[s.state])
		if err != nil {
			return nil, err
		}
		o.of[s.name] = all
	}
	return o, nil
}

// encode returns the state as compressed JSON.
func (a *state) encode() ([]byte, error) {
	var out bytes.Buffer
	packed := gzip.NewWriter(&out)
	if err := errors.Join(json.NewEncoder(packed).Encode(a), packed.Close()); err != nil {
		return nil, fmt.Errorf("encoding the changes of a document: %w", err)
	}
	return out.Bytes(), nil
}

// decodeState returns the state of compressed JSON.
func decodeState(packed []byte) (a state, err error) {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return a, err
	}
	text, err := io.ReadAll(r)
	if err == nil {
		err = json.Unmarshal(text, &a)
	}
	return a, err
}

// planRevert returns the plan that restores the objects of a state. now contains the current objects of the API. The
// error names an object that has changed since the apply.
func planRevert(ctx context.Context, st *state, now *Objects, owner string) (*Plan, error) {
	before, err := st.Before.objects()
	if err != nil {
		return nil, err
	}
	after, err := st.After.objects()
	if err != nil {
		return nil, err
	}
	p := &Plan{ctx: ctx, request: Request{Owner: owner}, held: now, put: newObjects(), gone: newObjects()}
	for _, s := range sections() {
		err = errors.Join(err, p.revertAll(s, before.of[s.name], after.of[s.name]))
	}
	return p, err
}

// revertAll adds the objects of a section to a plan. The error names the first object that has changed since the apply.
func (p *Plan) revertAll(s *section, before, after map[string]any) error {
	now, put, gone := p.held.of[s.name], p.put.of[s.name], p.gone.of[s.name]
	for _, id := range slices.Sorted(maps.Keys(after)) {
		if !objects.Equal(now[id], after[id]) {
			return fmt.Errorf("%s %s has changed since", s.kind, id)
		}
		change := api.PlanChange{Action: api.PlanUpdate, Kind: s.kind, ID: id}
		if was := before[id]; was != nil {
			put[id] = was
		} else {
			change.Action, gone[id] = api.PlanDelete, now[id]
		}
		p.changes = append(p.changes, change)
	}
	for _, id := range slices.Sorted(maps.Keys(before)) {
		if after[id] != nil {
			continue
		}
		if now[id] != nil {
			return fmt.Errorf("%s %s has been made since", s.kind, id)
		}
		put[id] = before[id]
		p.changes = append(p.changes, api.PlanChange{Action: api.PlanCreate, Kind: s.kind, ID: id})
	}
	return nil
}

// State returns the previous and next objects of a plan for PlanUndo, as compressed JSON. orders contains the weights
// and drains of the servers that the plan deletes.
func (p *Plan) State(orders []api.Order) ([]byte, error) {
	st, err := stateOf(p)
	if err != nil {
		return nil, fmt.Errorf("the changes of a document: %w", err)
	}
	st.Orders = orders
	return st.encode()
}

// ErrChanged is the error of PlanUndo if an object has changed since the apply.
type ErrChanged struct{ error }

// PlanUndo returns the plan that undoes the apply of a state, and the weights and drains of the restored servers. owner
// is the owner of the document. If an object has changed since the apply, it returns an ErrChanged.
func (pl *Planner) PlanUndo(packed []byte, owner string) (*Plan, []api.Order, error) {
	st, err := decodeState(packed)
	if err != nil {
		return nil, nil, err
	}
	p, err := planRevert(context.Background(), &st, pl.current(), owner)
	if err != nil {
		return nil, nil, ErrChanged{err}
	}
	return p, st.Orders, nil
}
