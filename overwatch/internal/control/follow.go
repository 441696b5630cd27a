package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/health/restore"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/overwatch/internal/state/replica"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
	"gslb.internal/shared/settings"
)

// errUnknownKind means that only a later version of gslb knows the kind of an object.
var errUnknownKind = errors.New("this version of gslb does not know it: run the same version on all nodes")

// errUnread means that the value of an object does not match its kind and name.
var errUnread = errors.New("its value cannot be read: run the same version on all nodes")

// object returns the value of a stored object, or nil if it is deleted or missing.
func (p *Plane) object(key replica.Key) (value json.RawMessage, err error) {
	if err := p.store.HeldReason(key); err != nil {
		return nil, err
	}
	o, there := p.store.Object(key)
	switch {
	case !there || o.Deleted:
		return nil, nil
	case !store.Readable(&o):
		return nil, errUnread
	}
	return o.Value, nil
}

// Follow applies objects in their stored state after a merge with other nodes. It returns the reason for each object
// without effect on this node; such an object stays in the store.
func (p *Plane) Follow(ctx context.Context, keys []replica.Key) map[replica.Key]error {
	refused := make(map[replica.Key]error)
	var defined []replica.Key
	for _, key := range keys {
		if definitions.Find(key.Kind) != nil {
			defined = append(defined, key)
			continue
		}
		err := errUnknownKind
		if kind, known := peerKinds[key.Kind]; known {
			err = kind.follow(p, ctx, key)
		}
		if err != nil {
			refused[key] = err
		}
	}
	if len(defined) > 0 {
		p.followDefined(defined, refused)
	}
	return refused
}

// followDefined applies definitions of the API together, and adds the reason for each definition without effect to
// refused.
func (p *Plane) followDefined(keys []replica.Key, refused map[replica.Key]error) {
	ctx, cancel := context.WithTimeout(p.o.Running, changeTimeout)
	defer cancel()
	p.mu.Lock()
	defer p.mu.Unlock()
	draft := p.set.Edit(p.shown.Load().base, p.file, p.names)
	for _, key := range keys {
		value, err := p.object(key)
		if err == nil {
			err = definitions.Find(key.Kind).Define(draft, key.Name, value)
		}
		if err != nil {
			refused[key] = err
		}
	}
	batch, notes := p.expireReceived(draft, keys)
	next := draft.Set()
	_, kinds := p.set.Changes(next)
	keepSerial := func() error {
		p.KeepSerials(p.o.Publisher.Serial())
		if batch.Empty() {
			return nil
		}
		return p.store.Write(batch, notes...)
	}
	left := p.left.remaining(p.set, next)
	if kinds.Settings { // settings of another node may contradict the file of this node
		_, _, left = p.join(p.file, next, nil)
	}
	_, err := p.activate(ctx, next, left, kinds, false, nil, keepSerial)
	if _, unservable := errors.AsType[settings.Problems](err); unservable {
		_, _, left = p.join(p.file, next, nil)
		_, err = p.activate(ctx, next, left, kinds, false, nil, keepSerial)
	}
	for _, key := range keys {
		if err != nil {
			refused[key] = err
		}
	}
}

func (p *Plane) followServer(ctx context.Context, key replica.Key) error {
	service, at, err := store.EndpointOf(key)
	if err != nil {
		return err
	}
	id, err := registry.NewID(service, at.Addr(), at.Port())
	if err != nil {
		return err
	}
	return p.o.Servers.Follow(ctx, id, func() (*model.Server, error) {
		value, err := p.object(key)
		if value == nil {
			return nil, err
		}
		s, err := model.Decode[model.Server](value)
		if err != nil {
			return nil, fmt.Errorf("it cannot be read: %w", err)
		}
		sound := restore.Servers([]model.Server{*s}, p.log)
		if len(sound) == 0 {
			return nil, errors.New("its service or its weight is invalid")
		}
		return &sound[0], nil
	})
}

func (p *Plane) followRevocation(ctx context.Context, key replica.Key) error {
	if _, err := p.object(key); err != nil {
		return err
	}
	o, _ := p.store.Object(key)
	lost, err := p.o.Trust.ApplyPeerChange(key.Name, o.Version.At())
	if err == nil && lost {
		err = p.o.Registry.RemoveAgent(ctx, key.Name)
	}
	return err
}

func (p *Plane) followLock(_ context.Context, key replica.Key) error {
	if _, err := p.object(key); err != nil {
		return err
	}
	return p.o.Trust.ApplyPeerLock(key.Name)
}

func (p *Plane) followFailback(_ context.Context, key replica.Key) error {
	return p.Changes.FollowFailback(func() (f store.Failback, there bool, err error) {
		value, err := p.object(key)
		if err != nil || value == nil {
			f.Domain, f.Region = store.FailbackOf(key)
			return f, false, err
		}
		if err := json.Unmarshal(value, &f); err != nil {
			return f, false, fmt.Errorf("it cannot be read: %w", err)
		}
		return f, true, nil
	})
}

func (p *Plane) followAdminState(ctx context.Context, key replica.Key) error {
	return p.Changes.FollowAdminState(ctx, func() (o store.Order, there bool, err error) {
		value, err := p.object(key)
		switch {
		case err != nil:
			return o, false, err
		case value == nil:
			o.Service, o.Address = store.OrderOf(key)
		default:
			if err := json.Unmarshal(value, &o); err != nil {
				return o, false, fmt.Errorf("it cannot be read: %w", err)
			}
		}
		o.Kind = api.OrderKind(key.Kind)
		return o, value != nil, nil
	})
}
