package operations

import (
	"encoding/json"
	"net/netip"

	"gslb.internal/overwatch/internal/control/changes"
	"gslb.internal/overwatch/internal/control/fault"
	"gslb.internal/overwatch/internal/control/objects"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
	"gslb.internal/shared/wire"
)

// The kinds of objects in scopes that package model does not define.
const (
	KindServer   = store.KindServer
	KindOverride = store.KindOverride
	KindWeight   = store.KindWeight
	KindDrain    = store.KindDrain
	KindFailback = store.KindFailback
)

// errOutside rejects a change of an object outside the scope of the operator's token. The text does not depend on the
// object, which can be unknown to the operator.
var errOutside = fault.New(fault.Forbidden, "an object of the request is outside the scope of the token: use the "+
	"objects of the scope, or another token")

// ActionOf returns the action of a scope that an operation with a least role needs.
func ActionOf(role api.Role) string {
	return map[api.Role]string{api.RoleRead: model.ActionRead, api.RoleOperate: model.ActionOperate,
		api.RoleAdmin: model.ActionDefine}[role]
}

// isLimited reports whether the request may concern only the objects of a scope.
func (r *Request) isLimited() bool { return r.Scope != nil && r.Scope.IsLimited() }

// Covers reports whether the scope of the request includes all objects. There must be at least one.
func (r *Request) Covers(list ...model.ScopedObject) bool {
	if !r.isLimited() {
		return true
	}
	for _, o := range list {
		if !r.Scope.Covers(o) {
			return false
		}
	}
	return len(list) > 0
}

// limited returns a change that rejects objects outside the scope of the request, in all their states: before the
// change and after it. Operations on single objects also check their request before, so that an error does not
// depend on objects outside the scope.
func (op *Operations) limited(r *Request, object changes.Object) changes.Object {
	d, is := object.(*changes.Definition)
	if !is || !r.isLimited() {
		return object
	}
	checked := *d
	checked.Edit = func(draft *definitions.Draft) error {
		fork := draft.Fork()
		if err := d.Edit(fork); err != nil {
			return err
		}
		if !op.coversChanges(r, draft, fork) {
			return errOutside
		}
		return d.Edit(draft)
	}
	return &checked
}

// coversChanges reports whether the scope of a request includes all objects that differ between two drafts.
func (op *Operations) coversChanges(r *Request, before, after *definitions.Draft) bool {
	for _, k := range definitions.All() {
		for _, name := range k.Differences(before.Now(), after.Now()) {
			for _, d := range []*definitions.Draft{before, after} {
				if o, exists := op.scopedDefinition(d, k, name); exists && !r.Covers(o) {
					return false
				}
			}
		}
	}
	return true
}

// scopedDefinition returns the properties of a definition of a draft to which scopes apply.
func (op *Operations) scopedDefinition(d *definitions.Draft, k definitions.Kind,
	name string) (o model.ScopedObject, exists bool) {
	if declared, is := k.(definitions.Declared); is {
		one := declared.Get(d.Now(), name)
		return model.ScopedOf(k.Name(), one), one != nil
	}
	if kind, of, is := definitions.SplitOverlay(name); is && k.Name() == store.KindSetting {
		if kind == definitions.OverTarget {
			id, err := definitions.ParseTargetID(of)
			t := d.Now().Target(id)
			if err != nil || t == nil {
				return model.ScopedObject{Kind: store.KindServer}, err != nil
			}
			return t.Scoped(), true
		}
		return op.scopedOverlay(d, kind, of), true
	}
	return model.ScopedObject{Kind: k.Name()}, true
}

// scopedOverlay returns the properties of an object of the file with its overlay in a draft. The regions of the overlay
// replace those of the file.
func (op *Operations) scopedOverlay(d *definitions.Draft, kind, name string) model.ScopedObject {
	o := op.scopedBare(d, kind, name)
	laid := d.Now().Overlay(kind, name)
	if laid == nil || kind == definitions.OverRegion {
		return o
	}
	var list []string // CheckOverlay reports errors
	if value := laid.Fields["regions"]; value != nil && json.Unmarshal(value, &list) == nil && list != nil {
		o.Regions = list
	}
	var one *string
	if value := laid.Fields["region"]; value != nil && json.Unmarshal(value, &one) == nil && one != nil {
		o.Regions = []string{*one}
	}
	return o
}

// scopedBare returns the properties of an object of the file, without overlays.
func (op *Operations) scopedBare(d *definitions.Draft, kind, name string) model.ScopedObject {
	if file, found := objects.ConfiguredDomain(d.Bare(), name); found && kind == definitions.OverDomain {
		return file.Scoped()
	}
	o := op.ScopedObject(kind, name)
	if file, found := d.Bare().Declared(name); found && kind == definitions.OverServer && file.Region != "" {
		o.Regions = []string{file.Region}
	}
	return o
}

// ScopedObject returns the properties of a current object of any source to which scopes apply. A missing object has
// only the properties that follow from its name.
func (op *Operations) ScopedObject(kind, name string) model.ScopedObject {
	find := map[string]func(string) model.ScopedObject{model.KindDomain: op.scopedDomain,
		model.KindRegion: op.scopedRegion, store.KindServer: op.scopedServer}[kind]
	if find == nil {
		return model.ScopedObject{Kind: kind}
	}
	return find(name)
}

// HasDomain reports whether the file or the API has a domain.
func (op *Operations) HasDomain(name string) bool {
	_, found := op.o.Edit.FindDomain(op.o.Edit.Config(), name)
	return found
}

func (op *Operations) scopedDomain(name string) model.ScopedObject {
	name = wire.CanonicalService(name)
	d, found := op.o.Edit.FindDomain(op.o.Edit.Config(), name)
	if !found {
		return model.ScopedObject{Kind: model.KindDomain, Names: []string{name}}
	}
	return d.Scoped()
}

func (op *Operations) scopedRegion(name string) model.ScopedObject {
	name = op.regionNames().Of(name)
	set, file := op.o.Definitions.Defined()
	if r, found := objects.FindRegion(set, file, name); found {
		return r.Scoped()
	}
	return model.ScopedObject{Kind: model.KindRegion, Regions: []string{name}}
}

// scopedServer returns the properties of a server by its id: with an address or with a host name.
func (op *Operations) scopedServer(text string) model.ScopedObject {
	if id, err := definitions.ParseTargetID(text); err == nil {
		set, _ := op.o.Definitions.Defined()
		if t := set.Target(id); t != nil {
			return t.Scoped()
		}
		return model.ScopedObject{Kind: store.KindServer, Names: []string{id.Service}}
	}
	id, err := objects.ParseID(text)
	if err != nil {
		return model.ScopedObject{Kind: store.KindServer}
	}
	return op.ScopedBackend(store.KindServer, id)
}

// ScopedBackend returns the properties of a backend, as an object of a kind, to which scopes apply. The owner is that
// of its server.
func (op *Operations) ScopedBackend(kind string, id registry.ID) model.ScopedObject {
	o := model.ScopedObject{Kind: kind, Names: []string{id.Service}}
	b := op.o.View.Get(id)
	if b != nil && b.Region != "" {
		o.Regions = []string{b.Region}
	}
	if server, created := op.o.Inventory.Get(id); created {
		o.Owner = server.Owner
		if b == nil && server.Region != "" {
			o.Regions = []string{server.Region}
		}
	} else if b != nil && b.Host().Name != "" {
		set, _ := op.o.Definitions.Defined()
		target := definitions.TargetID{Service: id.Service, Name: b.Host().Name, Port: id.Port}
		if t := set.Target(target); t != nil {
			o.Owner = t.Owner
		}
	}
	return o
}

// ScopedTarget returns the properties of the backends of an admin state. It has at least one element.
func (op *Operations) ScopedTarget(kind string, t changes.Target) (list []model.ScopedObject) {
	for _, b := range op.o.View.Service(t.Service) {
		if b.Address == t.Address && (t.Port == 0 || t.Port == b.Port) {
			list = append(list, op.ScopedBackend(kind, b.ID))
		}
	}
	if len(list) == 0 {
		list = append(list, op.ScopedBackend(kind, registry.ID{Service: t.Service, Address: t.Address, Port: t.Port}))
	}
	return list
}

// CoversEntry reports whether the scope of the request includes all objects of an audit entry, before and after the
// change. It is false for entries of several objects, such as applies, and of other kinds.
func (op *Operations) CoversEntry(r *Request, e *api.AuditEntry) bool {
	if !r.isLimited() {
		return true
	}
	list, known := op.scopedEntry(e)
	return known && r.Covers(list...)
}

// scopedEntry returns the properties of the objects of an audit entry to which scopes apply. known is false if the
// entry does not have all objects.
func (op *Operations) scopedEntry(e *api.AuditEntry) (list []model.ScopedObject, known bool) {
	decode := map[string]func(json.RawMessage) (any, error){
		"record": decodeRecords,
		"domain": decodeTo[model.Domain], "region": decodeTo[model.Region], "geo_mapping": decodeTo[model.Mapping],
		serverResource: decodeTo[model.Server], backendResource: decodeTo[model.Server],
	}[e.Resource]
	if kind := orderKindOf(e.Action); kind != "" {
		decode = func(text json.RawMessage) (any, error) {
			var o api.Order
			return &o, json.Unmarshal(text, &o)
		}
	} else if e.Action != api.AuditCreate && e.Action != api.AuditUpdate && e.Action != api.AuditDelete {
		return nil, false
	}
	for _, text := range []json.RawMessage{e.Before, e.After} {
		if len(text) == 0 || string(text) == "null" {
			continue
		}
		if decode == nil {
			return nil, false
		}
		object, err := decode(text)
		if err != nil {
			return nil, false
		}
		if o, is := object.(*api.Order); is {
			t, valid := targetOf(o)
			if !valid {
				return nil, false
			}
			list = append(list, op.ScopedTarget(orderKindOf(e.Action), t)...)
			continue
		}
		if records, is := object.(recordList); is {
			for _, r := range records {
				list = append(list, r.Scoped())
			}
			continue
		}
		list = append(list, model.ScopedOf(e.Resource, object))
	}
	return list, len(list) > 0
}

// targetOf returns the target of an admin state.
func targetOf(o *api.Order) (t changes.Target, valid bool) {
	t.Service = o.Service
	if endpoint, err := netip.ParseAddrPort(o.Address); err == nil {
		t.Address, t.Port = endpoint.Addr(), endpoint.Port()
		return t, true
	}
	address, err := netip.ParseAddr(o.Address)
	t.Address = address
	return t, err == nil
}

// decodeRecords decodes the list of records of an audit entry, or the record of an expiry.
func decodeRecords(text json.RawMessage) (any, error) {
	var list recordList
	if err := json.Unmarshal(text, &list); err == nil {
		return list, nil
	}
	one, err := model.Decode[model.Record](text)
	return recordList{one}, err
}

func decodeTo[T any](text json.RawMessage) (any, error) { return model.Decode[T](text) }
