package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"

	"gslb.internal/overwatch/internal/control/changes"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/overwatch/internal/state/replica"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
	"gslb.internal/shared/settings"
	"gslb.internal/shared/wire"
)

// peerKind is a kind of replicated objects.
type peerKind struct {
	// check rejects an object by the rules of an API change.
	check func(*replica.Object) error
	// define adds a definition to a draft, or deletes it from the draft for a nil value.
	define func(d *definitions.Draft, key replica.Key, value json.RawMessage) error
	// follow applies an object that is no definition.
	follow func(p *Plane, ctx context.Context, key replica.Key) error
	// unused returns why an object has no effect, although Follow has accepted it; "" if it has an effect.
	unused func(u *unused, name string) string
}

// peerKinds are the kinds of replicated objects that this version knows. It is never changed.
var peerKinds = map[string]peerKind{
	store.KindDomain: {check: checkDeclared(definitions.CheckDomain),
		define: func(d *definitions.Draft, key replica.Key, value json.RawMessage) error {
			return defineDeclared(key, value, d.PutDomain, d.DeleteDomain)
		}, unused: (*unused).domain},
	store.KindRegion: {check: checkDeclared(definitions.CheckRegion),
		define: func(d *definitions.Draft, key replica.Key, value json.RawMessage) error {
			return defineDeclared(key, value, d.PutRegion, d.DeleteRegion)
		}},
	store.KindMapping: {check: checkDeclared(definitions.CheckMapping), define: definePeerMapping,
		unused: (*unused).mapping},
	store.KindAgent: {check: checkAs(definitions.CheckNode),
		define: func(d *definitions.Draft, key replica.Key, value json.RawMessage) error {
			return define(key, value, d.PutNode, d.DeleteNode)
		}},
	store.KindSetting: {
		check: func(o *replica.Object) error { return definitions.CheckPeerSetting(o.Name, o.Value) },
		define: func(d *definitions.Draft, key replica.Key, value json.RawMessage) error {
			if err := definitions.CheckOverlay(key.Name, value); err != nil {
				return err
			}
			d.PutSetting(key.Name, value)
			return nil
		}, unused: (*unused).setting},
	store.KindServer: {check: checkDeclared(checkPeerServer), follow: (*Plane).followServer, unused: (*unused).server},
	store.KindOverride: {check: checkPeerAdminState, follow: (*Plane).followAdminState,
		unused: (*unused).adminState},
	store.KindWeight: {check: checkPeerAdminState, follow: (*Plane).followAdminState,
		unused: (*unused).adminState},
	store.KindDrain: {check: checkPeerAdminState, follow: (*Plane).followAdminState,
		unused: (*unused).adminState},
	store.KindRevocation: {
		check:  checkAs(func(p *store.Pin) error { return checkAgentID(p.AgentID) }),
		follow: (*Plane).followRevocation},
	store.KindLock: {check: checkAs(checkPeerLock), follow: (*Plane).followLock},
}

// CheckObject checks an object of another node by the rules of an API change. Follow reports faults that depend on
// other objects or on the configuration file, because these can arrive later. The store accepts objects of
// unknown kinds.
func CheckObject(o *replica.Object) error {
	if kind, known := peerKinds[o.Kind]; known {
		return kind.check(o)
	}
	return nil
}

// checkAs returns the check of an object with a value of type T.
func checkAs[T any](check func(*T) error) func(*replica.Object) error {
	return func(o *replica.Object) error { return checkValue(o, check) }
}

// checkDeclared is checkAs for an object of a kind of package model.
func checkDeclared[T any](check func(*T) error) func(*replica.Object) error {
	return func(o *replica.Object) error {
		value, err := model.Decode[T](o.Value)
		if err != nil {
			return fmt.Errorf("it cannot be read: %w", err)
		}
		return check(value)
	}
}

// checkValue checks the value of an object as a T.
func checkValue[T any](o *replica.Object, check func(*T) error) error {
	value := new(T)
	if err := json.Unmarshal(o.Value, value); err != nil {
		return fmt.Errorf("it cannot be read: %w", err)
	}
	return check(value)
}

func checkAgentID(id string) error {
	if remedy := settings.LabelRemedy(id, wire.MaxID); remedy != "" {
		return fmt.Errorf("agent_id is %.130q: %s", id, remedy)
	}
	return nil
}

func checkPeerServer(s *model.Server) error {
	id, err := registry.NewID(s.Service, s.Address, s.Port)
	if err == nil && (id.Service != s.Service || id.Address != s.Address) {
		err = fmt.Errorf("its id is not in the canonical form %s", id)
	}
	return errors.Join(err, definitions.CheckServer(s))
}

func checkPeerAdminState(o *replica.Object) error {
	return checkValue(o, func(order *store.Order) error {
		order.Kind = api.OrderKind(o.Kind)
		return changes.CheckAdminState(order)
	})
}

func checkPeerLock(l *store.TokenLock) error {
	if canonical, remedy := settings.ParseService(l.Service); remedy != "" || canonical != l.Service {
		return fmt.Errorf("service is %.260q: it must be the name of a domain", l.Service)
	}
	return nil
}

func definePeerMapping(d *definitions.Draft, key replica.Key, value json.RawMessage) error {
	network, err := netip.ParsePrefix(key.Name)
	if err != nil {
		return fmt.Errorf("its name is no network: %w", err)
	}
	network = model.Network(network)
	return defineDeclared(key, value, func(m *model.Mapping) { d.PutMapping(network, m) },
		func(string) { d.DeleteMapping(network) })
}

// defineDeclared is define for an object of a kind of package model.
func defineDeclared[T any](key replica.Key, value json.RawMessage, put func(*T), remove func(string)) error {
	if value == nil {
		remove(key.Name)
		return nil
	}
	one, err := model.Decode[T](value)
	if err != nil {
		return fmt.Errorf("it cannot be read: %w", err)
	}
	put(one)
	return nil
}

// define adds an object of type T to a draft with put. For a nil value, it deletes the object with remove.
func define[T any](key replica.Key, value json.RawMessage, put func(*T), remove func(string)) error {
	if value == nil {
		remove(key.Name)
		return nil
	}
	one := new(T)
	if err := json.Unmarshal(value, one); err != nil {
		return fmt.Errorf("it cannot be read: %w", err)
	}
	put(one)
	return nil
}
