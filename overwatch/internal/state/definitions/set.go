package definitions

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"slices"

	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/model"
)

// Bounds of the definitions of the API.
const (
	MaxDomains  = 10_000
	MaxRegions  = 1_000
	MaxMappings = 100_000
	MaxNodes    = 10_000
)

// Set has the definitions of the API. It is immutable.
type Set struct {
	Domains  map[string]*model.Domain
	Regions  map[string]*model.Region
	Mappings map[netip.Prefix]*model.Mapping // by their canonical network
	Settings map[string]json.RawMessage      // by section, or by OverlayKey
	Nodes    map[string]*store.Node          // agents that were announced, by id
}

// Empty reports whether the Set has no definitions that answers depend on: announced agents do not count.
func (s *Set) Empty() bool {
	return len(s.Domains)+len(s.Regions)+len(s.Mappings)+len(s.Settings) == 0
}

// New makes a Set of stored definitions.
func New(from store.Definitions) (*Set, error) {
	s := &Set{
		Domains:  make(map[string]*model.Domain, len(from.Domains)),
		Regions:  make(map[string]*model.Region, len(from.Regions)),
		Mappings: make(map[netip.Prefix]*model.Mapping, len(from.Mappings)),
		Settings: make(map[string]json.RawMessage, len(from.Settings)),
		Nodes:    make(map[string]*store.Node, len(from.Nodes)),
	}
	for i := range from.Domains {
		s.Domains[from.Domains[i].Name] = from.Domains[i]
	}
	for i := range from.Regions {
		s.Regions[from.Regions[i].Name] = from.Regions[i]
	}
	for _, m := range from.Mappings {
		if !m.CIDR.IsValid() {
			return nil, fmt.Errorf("a stored mapping of the region %q has no network", m.Region)
		}
		s.Mappings[model.Network(m.CIDR)] = m
	}
	for i := range from.Nodes {
		s.Nodes[from.Nodes[i].ID] = &from.Nodes[i]
	}
	for section, value := range from.Settings {
		s.Settings[section] = value
	}
	return s, nil
}

// Unhidden returns the Set without the definitions that a file hides because it has an object of the same name. names
// are the file's domains.
func (s *Set) Unhidden(file *config.Config, names Names) *Set {
	d := s.Edit(file, file, names)
	for name := range s.Domains {
		if names[name] {
			d.DeleteDomain(name)
		}
	}
	for i := range file.Regions {
		if d.next.Regions[file.Regions[i].Name] != nil {
			d.DeleteRegion(file.Regions[i].Name)
		}
	}
	for _, m := range file.Overwatch.Geolocation.CustomMappings {
		if network := model.Network(m.CIDR); d.next.Mappings[network] != nil {
			d.DeleteMapping(network)
		}
	}
	return d.Set()
}

// Networks lists the networks that have a mapping, in order.
func (s *Set) Networks() []netip.Prefix {
	return slices.SortedFunc(maps.Keys(s.Mappings), compareNetworks)
}

// Kinds is the set of the kinds of definitions that differ between two Sets.
type Kinds struct {
	Domains, Regions, Mappings, Settings bool
	Objects                              bool // overlays of objects of the file
	Targets                              bool // servers by host name
}

// setting sets the field of the kind that a setting belongs to.
func (k *Kinds) setting(name string) {
	switch kind, _, is := SplitOverlay(name); {
	case !is:
		k.Settings = true
	case kind == OverTarget:
		k.Targets = true
	default:
		k.Objects = true
	}
}

// Changes returns the batch that turns the stored s into next, and the kinds that differ.
func (s *Set) Changes(next *Set) (*store.Batch, Kinds) {
	b := &store.Batch{}
	var k Kinds
	k.Domains = differences(s.Domains, next.Domains, func(d *model.Domain) { b.PutDomain(d) },
		func(name string) { b.DeleteDomain(name) })
	k.Regions = differences(s.Regions, next.Regions, func(r *model.Region) { b.PutRegion(r) },
		func(name string) { b.DeleteRegion(name) })
	k.Mappings = differences(s.Mappings, next.Mappings, func(m *model.Mapping) { b.PutMapping(m) },
		func(n netip.Prefix) { b.DeleteMapping(n.String()) })
	differences(s.Nodes, next.Nodes, func(n *store.Node) { b.PutNode(*n) }, func(id string) { b.DeleteNode(id) })
	for section, value := range next.Settings {
		if !bytes.Equal(s.Settings[section], value) {
			b.PutSetting(section, value)
			k.setting(section)
		}
	}
	for section := range s.Settings {
		if next.Settings[section] == nil {
			b.DeleteSetting(section)
			k.setting(section)
		}
	}
	return b, k
}

// differences compares two maps entry by entry, by pointer: an entry is never changed in place.
func differences[K comparable, V any](before, after map[K]*V, put func(*V), remove func(K)) (any bool) {
	for key, value := range after {
		if before[key] != value {
			put(value)
			any = true
		}
	}
	for key := range before {
		if after[key] == nil {
			remove(key)
			any = true
		}
	}
	return any
}

// Draft is a Set under construction.
type Draft struct {
	next  *Set
	file  *config.Config
	bare  *config.Config
	names Names

	ownDomains, ownRegions, ownMappings, ownSettings, ownNodes bool // maps of next that differ from the previous Set

	stale bool // file lacks settings that were drafted since
}

// Edit begins a Draft with the definitions of s. bare is the configuration file, file the same with the settings of s
// over it; names are its domains.
func (s *Set) Edit(file, bare *config.Config, names Names) *Draft {
	next := *s
	return &Draft{next: &next, file: file, bare: bare, names: names}
}

// InFile reports whether the file has a domain of the name.
func (d *Draft) InFile(name string) bool { return d.names[name] }

// Set returns the finished Set. The caller must not use the Draft afterwards.
func (d *Draft) Set() *Set { return d.next }

// File returns the configuration file with the API's settings over it, without the other definitions. The settings are
// from the previous Set or from the last call of Refresh. The result is immutable.
func (d *Draft) File() *config.Config { return d.file }

// Refresh updates File to the drafted settings, before the next of several changes. If the settings do not fit the
// file, File stays unchanged.
func (d *Draft) Refresh() {
	if !d.stale {
		return
	}
	d.stale = false
	if over, err := d.next.Over(d.bare); err == nil {
		d.file = over
	}
}

// Now returns the current state of the draft. The caller must not change or retain it.
func (d *Draft) Now() *Set { return d.next }

// PutDomain adds a domain, or replaces the domain with the same name. The draft owns the argument.
func (d *Draft) PutDomain(domain *model.Domain) {
	writable(&d.next.Domains, &d.ownDomains)[domain.Name] = domain
}

// DeleteDomain deletes the domain of a name.
func (d *Draft) DeleteDomain(name string) { delete(writable(&d.next.Domains, &d.ownDomains), name) }

// PutRegion adds a region, or replaces the region with the same name. The draft owns the argument.
func (d *Draft) PutRegion(region *model.Region) {
	writable(&d.next.Regions, &d.ownRegions)[region.Name] = region
}

// DeleteRegion deletes the region of a name.
func (d *Draft) DeleteRegion(name string) { delete(writable(&d.next.Regions, &d.ownRegions), name) }

// PutMapping adds a mapping, or replaces the mapping of the same canonical network. The draft owns the argument.
func (d *Draft) PutMapping(network netip.Prefix, m *model.Mapping) {
	writable(&d.next.Mappings, &d.ownMappings)[network] = m
}

// DeleteMapping deletes the mapping of a canonical network.
func (d *Draft) DeleteMapping(network netip.Prefix) {
	delete(writable(&d.next.Mappings, &d.ownMappings), network)
}

// PutNode adds an announced agent, or replaces the agent with the same id. The draft owns the argument.
func (d *Draft) PutNode(n *store.Node) { writable(&d.next.Nodes, &d.ownNodes)[n.ID] = n }

// DeleteNode deletes an announced agent.
func (d *Draft) DeleteNode(id string) { delete(writable(&d.next.Nodes, &d.ownNodes), id) }

// PutSetting stores the overlay of a section as JSON; nil deletes it.
func (d *Draft) PutSetting(section string, value json.RawMessage) {
	if kind, _, is := SplitOverlay(section); !is || kind != OverTarget { // a server by host name is no overlay
		d.stale = true
	}
	all := writable(&d.next.Settings, &d.ownSettings)
	if value == nil {
		delete(all, section)
		return
	}
	all[section] = value
}

// PutSection stores the overlay that sets a section to the values of wanted, a changed result of View. If a setting is
// fixed or out of range, PutSection changes no setting and returns settings.Problems.
func (d *Draft) PutSection(section string, wanted any) error {
	overlay, err := overlayOf(section, d.bare, d.file, d.next.Settings[section], wanted)
	if err != nil {
		return err
	}
	trial := (&Set{Settings: maps.Clone(d.next.Settings)}).Edit(d.bare, d.bare, d.names)
	trial.PutSetting(section, overlay)
	over, err := trial.Set().Over(d.bare)
	if err != nil {
		return err
	}
	problems := append(outOfRange(section, overlay, over), Check(section, over)...)
	if problems = append(problems, withoutRate(d.file, over, wanted)...); len(problems) > 0 {
		return problems
	}
	d.PutSetting(section, overlay)
	return nil
}

// Bare returns the configuration file without the API. It is immutable.
func (d *Draft) Bare() *config.Config { return d.bare }

// writable returns a map of the draft that may be changed: it copies the map before the draft's first change of it.
func writable[M ~map[K]V, K comparable, V any](m *M, owned *bool) M {
	if !*owned {
		*m, *owned = maps.Clone(*m), true
	}
	return *m
}
