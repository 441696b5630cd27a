package httpapi

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"

	"gslb.internal/overwatch/internal/control/impact"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/health/restore"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
)

// AppliedStore stores the changes of applies, for their undo. A call returns when the change is on disk.
type AppliedStore interface {
	PutApplied(name string, state []byte) error
	// Applied returns a stored state, or nil if the state is missing.
	Applied(name string) ([]byte, error)
	DeleteApplied(name string) error
}

// appliedState holds the changes of an apply: the objects before and after it, and the orders of removed servers.
type appliedState struct {
	Before, After appliedObjects
	Orders        []api.Order `json:",omitempty"`
}

// appliedObjects are objects in the form that the store has them.
type appliedObjects struct {
	Regions  []*store.Region            `json:",omitempty"`
	Domains  []json.RawMessage          `json:",omitempty"`
	Servers  []*store.Server            `json:",omitempty"`
	Targets  []appliedTarget            `json:",omitempty"`
	Mappings []*store.Mapping           `json:",omitempty"`
	Agents   []*store.Node              `json:",omitempty"`
	Settings map[string]json.RawMessage `json:",omitempty"`
}

type appliedTarget struct {
	ID     string
	Server *definitions.TargetServer
}

// stateOf returns the changed objects of a plan, before and after the change, without the orders.
func stateOf(p *documentPlan) (state appliedState, err error) {
	before := newObjects()
	addTouched(before.regions, p.held.regions, p.put.regions, p.gone.regions)
	addTouched(before.domains, p.held.domains, p.put.domains, p.gone.domains)
	addTouched(before.servers, p.held.servers, p.put.servers, p.gone.servers)
	addTouched(before.targets, p.held.targets, p.put.targets, p.gone.targets)
	addTouched(before.mappings, p.held.mappings, p.put.mappings, p.gone.mappings)
	addTouched(before.agents, p.held.agents, p.put.agents, p.gone.agents)
	addTouched(before.settings, p.held.settings, p.put.settings, p.gone.settings)
	if state.Before, err = before.listed(); err != nil {
		return state, err
	}
	state.After, err = p.put.listed()
	return state, err
}

// addTouched adds the objects of now with the keys of the maps touched.
func addTouched[K comparable, V any](to, now map[K]*V, touched ...map[K]*V) {
	for _, all := range touched {
		for key := range all {
			if object := now[key]; object != nil {
				to[key] = object
			}
		}
	}
}

func (o *objectSet) listed() (list appliedObjects, err error) {
	for _, key := range sortedKeys(o.regions) {
		list.Regions = append(list.Regions, o.regions[key])
	}
	for _, key := range sortedKeys(o.domains) {
		text, err := encoded(o.domains[key])
		if err != nil {
			return list, err
		}
		list.Domains = append(list.Domains, text)
	}
	for _, key := range sortedKeys(o.servers) {
		list.Servers = append(list.Servers, o.servers[key])
	}
	for _, key := range sortedKeys(o.targets) {
		list.Targets = append(list.Targets, appliedTarget{key.String(), o.targets[key]})
	}
	for _, key := range sortedKeys(o.mappings) {
		list.Mappings = append(list.Mappings, o.mappings[key])
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
func (l *appliedObjects) objects() (*objectSet, error) {
	o := newObjects()
	for _, r := range l.Regions {
		o.regions[r.Name] = r
	}
	for _, text := range l.Domains {
		d, err := model.Decode[model.Domain](text)
		if err != nil {
			return nil, err
		}
		o.domains[d.Name] = d
	}
	for _, s := range l.Servers {
		o.servers[registry.ID{Service: s.Service, Address: s.Address, Port: s.Port}] = s
	}
	for _, t := range l.Targets {
		id, err := definitions.ParseTargetID(t.ID)
		if err != nil {
			return nil, err
		}
		o.targets[id] = t.Server
	}
	for _, m := range l.Mappings {
		network, err := netip.ParsePrefix(m.CIDR)
		if err != nil {
			return nil, err
		}
		o.mappings[network] = m
	}
	for _, n := range l.Agents {
		o.agents[n.ID] = n
	}
	for section, overlay := range l.Settings {
		o.settings[section] = &overlay
	}
	return o, nil
}

// encode returns the state as compressed JSON.
func (a *appliedState) encode() ([]byte, error) {
	var out bytes.Buffer
	packed := gzip.NewWriter(&out)
	if err := errors.Join(json.NewEncoder(packed).Encode(a), packed.Close()); err != nil {
		return nil, fmt.Errorf("encoding the changes of a document: %w", err)
	}
	return out.Bytes(), nil
}

// decodeApplied returns the state of compressed JSON.
func decodeApplied(packed []byte) (a appliedState, err error) {
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

// planRevert returns the plan that restores the objects of a state. now are the objects of the API. The error names an
// object that has changed since the apply.
func planRevert(ctx context.Context, state *appliedState, now *objectSet, owner string) (*documentPlan, error) {
	before, err := state.Before.objects()
	if err != nil {
		return nil, err
	}
	after, err := state.After.objects()
	if err != nil {
		return nil, err
	}
	p := &documentPlan{ctx: ctx, request: documentBody{Owner: owner}, held: now, put: newObjects(), gone: newObjects()}
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
func revertAll[K comparable, V any](p *documentPlan, kind string, before, after, now, put, gone map[K]*V) error {
	for _, key := range sortedKeys(after) {
		if !equalJSON(now[key], after[key]) {
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

func equalJSON(a, b any) bool {
	one, err := encoded(a)
	other, failed := encoded(b)
	return err == nil && failed == nil && equalBut(one, other)
}

// appliedName returns the name of the state of an apply: the request's id, and for an undo the entry that it undoes.
func appliedName(requestID, undoes string) string {
	if undoes == "" || undoes == "0" {
		return requestID
	}
	return requestID + "-" + undoes
}

// undoableApply is the effect of the undo of an apply.
type undoableApply struct {
	plan   *documentPlan
	orders []api.Order
}

// planUndoApply returns the plan that undoes the apply of an audit entry.
func (s *Server) planUndoApply(e *api.AuditEntry) (u undoableApply, err error) {
	packed, err := s.o.Applied.Applied(appliedName(e.RequestID, e.Details["undoes"]))
	if err != nil {
		return u, err
	}
	if packed == nil {
		return u, cannotUndo(e, fmt.Sprintf("what was before it is not kept: an earlier version made it, it was too large, "+
			"or it is older than the last %d applies", store.MaxApplied))
	}
	state, err := decodeApplied(packed)
	if err != nil {
		return u, fmt.Errorf("the state before apply %d: %w", e.ID, err)
	}
	p, err := planRevert(context.Background(), &state, s.currentObjects(), e.ResourceID)
	if err != nil {
		return u, cannotUndo(e, err.Error())
	}
	return undoableApply{p, state.Orders}, nil
}

// undoApply reverts the apply of a document.
func (s *Server) undoApply(c *call, e *api.AuditEntry, ch *change) error {
	s.o.OrderLock.Lock() // before s.safe, as changes of orders do
	defer s.o.OrderLock.Unlock()
	s.safe.Lock()
	defer s.safe.Unlock()
	s.regions.Lock()
	defer s.regions.Unlock()
	u, err := s.planUndoApply(e)
	if err != nil {
		return err
	}
	if c.query.flag("if_safe") {
		effects, err := s.effectsOf(c.Request.Context(), u.plan)
		if err == nil {
			err = impact.Unsafe(effects.Losses)
		}
		if err != nil {
			return conflictOf(e, err)
		}
	}
	ch.after = u.plan.summary()
	return conflictOf(e, s.applyPlan(c, u.plan, ch, u.orders))
}

// conflictOf converts a bad request, caused by a restored object, to the conflict error of an undo. It returns other
// errors unchanged.
func conflictOf(e *api.AuditEntry, err error) error {
	if p, is := errors.AsType[*problem](err); is && p.status == http.StatusBadRequest {
		return cannotUndo(e, p.sentence)
	}
	return err
}

// ordersOf returns the weights and the drains of servers.
func (s *Server) ordersOf(servers []registry.ID) (list []api.Order) {
	of := make(map[registry.ID]bool, len(servers))
	for _, id := range servers {
		of[id] = true
	}
	for _, o := range s.o.View.Orders() {
		if o.Kind != api.OrderOverride && of[registry.ID{Service: o.Service, Address: o.Address, Port: o.Port}] {
			list = append(list, o.Record())
		}
	}
	return list
}

// restoreOrders restores the orders of restored servers, without the expired orders. The caller holds
// Options.OrderLock.
func (s *Server) restoreOrders(ctx context.Context, orders []api.Order) error {
	var failed []error
	for _, record := range orders {
		o, known := orderOf(record, s.o.Now())
		if _, again := s.findOrder(o.Kind, targetOf(o)); !known || again ||
			!o.ExpiresAt.IsZero() && !s.o.Now().Before(o.ExpiresAt) {
			continue
		}
		if err := s.o.OrderStore.PutOrder(restore.Order(o)); err != nil {
			failed = append(failed, err)
			continue
		}
		if err := s.o.Orders.SetOrder(ctx, o); err != nil {
			failed = append(failed, s.o.OrderStore.DeleteOrder(o.Kind, o.Service, o.Endpoint()))
		}
	}
	return errors.Join(failed...)
}
