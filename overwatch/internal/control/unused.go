package control

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"

	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/overwatch/internal/state/replica"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
)

// Unused lists the objects without effect. An object has no effect if it refers to a missing object, or if the file has
// the same object.
func (s *State) Unused(objects []replica.Object) (list []api.ReplicationRefused) {
	shown, cfg := s.shown.Load(), s.Config()
	u := unused{set: shown.set, base: shown.base, steered: make(map[string]bool, cfg.CountDomains()),
		regions: make(map[string]bool), spelled: shown.set.RegionNames(cfg), file: make(map[string]bool)}
	for d := range cfg.AllDomains {
		u.steered[d.Name] = true
	}
	for i := range cfg.Regions {
		u.regions[cfg.Regions[i].Name] = cfg.Regions[i].Enabled
	}
	file := shown.base.File()
	u.targets = definitions.FileTargets(file)
	for _, m := range file.Overwatch.Geolocation.CustomMappings {
		u.file[store.KindMapping+model.Network(m.CIDR).String()] = true
	}
	for i := range file.Regions {
		u.file[store.KindRegion+file.Regions[i].Name] = true
	}
	for name := range definitions.NamesIn(file) {
		u.file[store.KindDomain+name] = true
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

// unused has the lookup tables of State.Unused.
type unused struct {
	set              *definitions.Set
	base             *config.Config
	steered, regions map[string]bool
	spelled          config.RegionNames
	file             map[string]bool               // kinds and names of the file's objects
	targets          map[definitions.TargetID]bool // of the file
}

// reason returns why an object has no effect; "" if it has an effect, or if Follow has rejected it.
func (u *unused) reason(key replica.Key) string {
	if u.file[key.Kind+key.Name] {
		return sameInFile
	}
	if kind := peerKinds[key.Kind]; kind.unused != nil {
		return kind.unused(u, key.Name)
	}
	return ""
}

// sameInFile is the reason of an object that the file also has.
const sameInFile = "the configuration of this node has the same object, which takes precedence"

func (u *unused) server(name string) string {
	service, _, _ := store.EndpointOf(replica.Key{Kind: store.KindServer, Name: name})
	return u.unsteered(service)
}

func (u *unused) adminState(name string) string {
	service, _ := store.OrderOf(replica.Key{Name: name})
	return u.unsteered(service)
}

func (u *unused) mapping(name string) string {
	network, err := netip.ParsePrefix(name)
	if m := u.set.Mappings[model.Network(network)]; err == nil && m != nil && !u.regions[u.spelled.Of(m.Region)] {
		return fmt.Sprintf("there is no region %s, or it is disabled", m.Region)
	}
	return ""
}

func (u *unused) domain(name string) string {
	d := u.set.Domains[name]
	if d == nil || !d.Enabled {
		return ""
	}
	for _, region := range d.Regions {
		if !u.regions[u.spelled.Of(region)] {
			return fmt.Sprintf("it is served without its region %s, which is not there, or disabled", region)
		}
	}
	return ""
}

func (u *unused) setting(key string) string {
	kind, name, isOverlay := definitions.SplitOverlay(key)
	if kind == definitions.OverTarget {
		return u.target(name)
	}
	if isOverlay && !(u.base.Laid(key) && (kind == definitions.OverServer || u.file[kind+name])) {
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
