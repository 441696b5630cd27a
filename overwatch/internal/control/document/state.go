package document

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"gslb.internal/overwatch/internal/control/objects"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
)

// state holds the changes of an apply: the objects before and after it, and the admin states of removed servers.
type state struct {
	Before, After appliedObjects
	Orders        []api.Order `json:",omitempty"`
}

// appliedObjects are objects in their stored form.
type appliedObjects struct {
	Regions  []json.RawMessage          `json:",omitempty"`
	Domains  []json.RawMessage          `json:",omitempty"`
	Servers  []json.RawMessage          `json:",omitempty"`
	Targets  []appliedTarget            `json:",omitempty"`
	Mappings []json.RawMessage          `json:",omitempty"`
	Agents   []*store.Node              `json:",omitempty"`
	Settings map[string]json.RawMessage `json:",omitempty"`
}

type appliedTarget struct {
	ID     string
	Server json.RawMessage
}

// stateOf returns the changed objects of a plan, before and after the change, without admin states.
func stateOf(p *Plan) (st state, err error) {
	before := newObjects()
	addTouched(before.regions, p.held.regions, p.put.regions, p.gone.regions)
	addTouched(before.domains, p.held.domains, p.put.domains, p.gone.domains)
	addTouched(before.servers, p.held.servers, p.put.servers, p.gone.servers)
	addTouched(before.targets, p.held.targets, p.put.targets, p.gone.targets)
	addTouched(before.mappings, p.held.mappings, p.put.mappings, p.gone.mappings)
	addTouched(before.agents, p.held.agents, p.put.agents, p.gone.agents)
	addTouched(before.settings, p.held.settings, p.put.settings, p.gone.settings)
	if st.Before, err = before.listed(); err != nil {
		return st, err
	}
	st.After, err = p.put.listed()
	return st, err
}

// addTouched adds the objects of now with keys in the maps of touched.
func addTouched[K comparable, V any](to, now map[K]*V, touched ...map[K]*V) {
	for _, all := range touched {
		for key := range all {
			if object := now[key]; object != nil {
				to[key] = object
			}
		}
	}
}

func (o *Objects) listed() (list appliedObjects, err error) {
	if list.Regions, err = encoded(o.regions); err != nil {
		return list, err
	}
	if list.Domains, err = encoded(o.domains); err != nil {
		return list, err
	}
	if list.Servers, err = encoded(o.servers); err != nil {
		return list, err
	}
	for _, key := range sortedKeys(o.targets) {
		text, err := model.Encode(o.targets[key])
		if err != nil {
			return list, err
		}
		list.Targets = append(list.Targets, appliedTarget{key.String(), text})
	}
	if list.Mappings, err = encoded(o.mappings); err != nil {
		return list, err
	}
	for _, key := range sortedKeys(o.agents) {
		list.Agents = append(list.Agents, o.agents[key])
	}
	for key, overlay := range o.settings {
		if list.Settings == nil {
			list.Settings = map[string]json.RawMessage{}
		}
		list.Settings[key] = *overlay
	}
	return list, nil
}

// objects is the inverse of listed.
func (l *appliedObjects) objects() (*Objects, error) {
	o := newObjects()
	if err := errors.Join(decodeAll(l.Regions, o.regions, (*model.Region).Key),
		decodeAll(l.Domains, o.domains, (*model.Domain).Key), decodeAll(l.Servers, o.servers, endpointOf),
		decodeAll(l.Mappings, o.mappings, (*model.Mapping).Key)); err != nil {
		return nil, err
	}
	for _, t := range l.Targets {
		server, err := definitions.DecodeTarget(t.ID, t.Server)
		if err != nil {
			return nil, err
		}
		o.targets[definitions.TargetIDOf(server)] = server
	}
	for _, n := range l.Agents {
		o.agents[n.ID] = n
	}
	for section, overlay := range l.Settings {
		o.settings[section] = &overlay
	}
	return o, nil
}

// encoded returns the stored forms of objects in the order of their keys.
func encoded[K comparable, V any](all map[K]*V) (list []json.RawMessage, err error) {
	for _, key := range sortedKeys(all) {
		text, err := model.Encode(all[key])
		if err != nil {
			return nil, err
		}
		list = append(list, text)
	}
	return list, nil
}

// decodeAll is the inverse of encoded.
func decodeAll[K comparable, V any](list []json.RawMessage, all map[K]*V, key func(*V) K) error {
	for _, text := range list {
		one, err := model.Decode[V](text)
		if err != nil {
			return err
		}
		all[key(one)] = one
	}
	return nil
}

// endpointOf returns the id of a server with an address.
func endpointOf(s *model.Server) registry.ID {
	return registry.ID{Service: s.Service, Address: s.Address, Port: s.Port}
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
	return p, errors.Join(
		revertAll(p, kindRegion, before.regions, after.regions, now.regions, p.put.regions, p.gone.regions),
		revertAll(p, kindDomain, before.domains, after.domains, now.domains, p.put.domains, p.gone.domains),
		revertAll(p, kindServer, before.servers, after.servers, now.servers, p.put.servers, p.gone.servers),
		revertAll(p, kindServer, before.targets, after.targets, now.targets, p.put.targets, p.gone.targets),
		revertAll(p, kindMapping, before.mappings, after.mappings, now.mappings, p.put.mappings, p.gone.mappings),
		revertAll(p, kindAgent, before.agents, after.agents, now.agents, p.put.agents, p.gone.agents),
		revertAll(p, kindSettings, before.settings, after.settings, now.settings, p.put.settings, p.gone.settings))
}

// revertAll adds the objects of a kind to a plan. The error names the first object that has changed since the apply.
func revertAll[K comparable, V any](p *Plan, kind string, before, after, now, put, gone map[K]*V) error {
	for _, key := range sortedKeys(after) {
		if !objects.Equal(now[key], after[key]) {
			return fmt.Errorf("%s %v has changed since", kind, key)
		}
		change := api.PlanChange{Action: api.PlanUpdate, Kind: kind, ID: fmt.Sprint(key)}
		if was := before[key]; was != nil {
			put[key] = was
		} else {
			change.Action, gone[key] = api.PlanDelete, now[key]
		}
		p.changes = append(p.changes, change)
	}
	for _, key := range sortedKeys(before) {
		if after[key] != nil {
			continue
		}
		if now[key] != nil {
			return fmt.Errorf("%s %v has been made since", kind, key)
		}
		put[key] = before[key]
		p.changes = append(p.changes, api.PlanChange{Action: api.PlanCreate, Kind: kind, ID: fmt.Sprint(key)})
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
