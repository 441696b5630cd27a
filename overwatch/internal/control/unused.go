package control

import (
	"cmp"
	"fmt"
	"slices"

	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/overwatch/internal/state/replica"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
)

// Unused lists the objects without effect. An object has no effect if it refers to a missing object, or if the file has
// the same object.
func (s *State) Unused(objects []replica.Object) (list []api.ReplicationRefused) {
	shown, cfg := s.shown.Load(), s.Config()
	file := shown.base.File()
	u := unused{set: shown.set, base: shown.base, steered: make(map[string]bool, cfg.CountDomains()),
		regions: make(map[string]bool), spelled: shown.set.RegionNames(cfg), file: definitions.NamesIn(file),
		targets: definitions.FileTargets(file)}
	for d := range cfg.AllDomains {
		u.steered[d.Name] = true
	}
	for i := range cfg.Regions {
		u.regions[cfg.Regions[i].Name] = cfg.Regions[i].Enabled
	}
	for i := range objects {
		if o := &objects[i]; !o.Deleted {
			if reason := u.reason(o.Key); reason != "" {
				list = append(list, api.ReplicationRefused{Kind: o.Kind, Name: o.Name, Reason: reason})
			}
		}
	}
	slices.SortFunc(list, func(a, b api.ReplicationRefused) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// Unused lists the objects without effect, and the DNS records that the node does not serve.
func (p *Plane) Unused(objects []replica.Object) []api.ReplicationRefused {
	list := p.State.Unused(objects)
	omitted := p.o.Publisher.Omitted()
	for _, key := range slices.Sorted(omitted.Names()) {
		list = append(list, api.ReplicationRefused{Kind: store.KindRecord, Name: key, Reason: omitted.Get(key)})
	}
	return list
}

// unused has the lookup tables of State.Unused.
type unused struct {
	set              *definitions.Set
	base             *config.Config
	steered, regions map[string]bool
	spelled          config.RegionNames
	file             definitions.Names
	targets          map[definitions.TargetID]bool // of the file
}

// reason returns why an object has no effect; "" if it has an effect, or if Follow has rejected it.
func (u *unused) reason(key replica.Key) string {
	if u.file[key.Kind][key.Name] {
		return sameInFile
	}
	if key.Kind == store.KindSetting {
		return u.setting(key.Name)
	}
	if kind := definitions.Find(key.Kind); kind != nil {
		return kind.Unused(u.set, key.Name, func(region string) bool { return !u.regions[u.spelled.Of(region)] })
	}
	if kind := peerKinds[key.Kind]; kind.service != nil {
		return u.unsteered(kind.service(key))
	}
	return ""
}

// sameInFile is the reason of an object that the file also has.
const sameInFile = "the configuration of this node has the same object, which takes precedence"

func (u *unused) setting(key string) string {
	kind, name, isOverlay := definitions.SplitOverlay(key)
	if kind == definitions.OverTarget {
		return u.target(name)
	}
	if isOverlay && !(u.base.Laid(key) && (kind == definitions.OverServer || u.file[kind][name])) {
		return fmt.Sprintf("the configuration of this node does not have %s, or does not go with it", name)
	}
	return ""
}

// target returns why a server by host name has no effect; "" if it has an effect.
func (u *unused) target(name string) string {
	id, err := definitions.ParseTargetID(name)
	if err != nil {
		return "" // the object is rejected
	}
	t := u.set.Target(id)
	if t == nil {
		return ""
	}
	if u.targets[id] {
		return sameInFile
	}
	region := u.spelled.Of(t.Region)
	if _, there := u.regions[region]; !there && u.set.Regions[region] == nil {
		return fmt.Sprintf("there is no region %s", t.Region)
	}
	return u.unsteered(id.Service)
}

func (u *unused) unsteered(service string) string {
	if u.steered[service] {
		return ""
	}
	return fmt.Sprintf("no name %s is answered", service)
}
