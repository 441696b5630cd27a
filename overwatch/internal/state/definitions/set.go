package definitions

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/model"
)

// Empty reports whether the Set has no definitions that answers depend on: announced agents do not count.
func (s *Set) Empty() bool {
	return len(s.Domains)+len(s.Regions)+len(s.Mappings)+len(s.Settings)+s.Records.Len() == 0
}

// Load returns the Set of stored definitions.
func Load(from *store.Store) (*Set, error) {
	s := &Set{}
	return s, from.LoadDefinitions(func(kind, name string, value []byte) error {
		return Find(kind).load(s, name, value)
	})
}

// Unhidden returns the Set without the definitions that a file hides because it has an object of the same name. names
// are the names of the file.
func (s *Set) Unhidden(file *config.Config, names Names) *Set {
	d := s.Edit(file, file, names)
	for _, k := range kinds {
		k.hide(d)
	}
	return d.Set()
}

// SortedMappings returns the mappings in the order of their networks.
func (s *Set) SortedMappings() []*model.Mapping {
	return slices.SortedFunc(maps.Values(s.Mappings), func(a, b *model.Mapping) int {
		return CompareNetworks(a.CIDR, b.CIDR)
	})
}

// Kinds describes the definitions that differ between two Sets.
type Kinds struct {
	Answers          bool // definitions on which answers depend, except settings
	Domains, Regions bool
	Settings         bool // sections
	Objects          bool // overlays of objects of the file
	Targets          bool // servers by host name
}

// setting sets the field for the kind of a setting.
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

// Changes returns the batch that changes the stored Set s to next, and the kinds that differ.
func (s *Set) Changes(next *Set) (*store.Batch, Kinds) {
	b := &store.Batch{}
	var changed Kinds
	for _, k := range kinds {
		for _, name := range k.Differences(s, next) {
			k.save(b, next, name)
			k.mark(&changed, name)
		}
	}
	return b, changed
}

// Draft is a Set under construction.
type Draft struct {
	next  *Set
	file  *config.Config
	bare  *config.Config
	names Names

	owned map[string]bool // kinds with maps of next that differ from the previous Set

	stale bool // file lacks settings that were drafted after it
}

// Edit begins a Draft with the definitions of s. bare is the configuration file, file the same with the settings of s
// over it; names are the names of its objects.
func (s *Set) Edit(file, bare *config.Config, names Names) *Draft {
	next := *s
	return &Draft{next: &next, file: file, bare: bare, names: names}
}

// Fork returns a draft that begins with the state of d. Its changes do not affect d.
func (d *Draft) Fork() *Draft {
	next := *d.next
	fork := *d
	fork.next, fork.owned = &next, nil
	return &fork
}

// InFile reports whether the file has an object of a kind and name.
func (d *Draft) InFile(kind, name string) bool { return d.names[kind][name] }

// Set returns the finished Set. The caller must not use the Draft afterwards.
func (d *Draft) Set() *Set { return d.next }

// File returns the configuration file with the API's settings applied, without the other definitions. The settings are
// from the previous Set or from the last call of Refresh. The result is immutable.
func (d *Draft) File() *config.Config { return d.file }

// Refresh updates File to the drafted settings, before the next of several changes. If the settings contradict the
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

// Put adds an object, or replaces the object of its kind with the same key. The draft owns the argument.
func (d *Draft) Put(object model.Object) {
	for _, k := range kinds {
		if k.put(d, object) {
			return
		}
	}
	panic(fmt.Sprintf("%T is no kind of definitions", object))
}

// Delete deletes the object of a kind with a key, if it exists.
func (d *Draft) Delete(kind, key string) { _ = Find(kind).Define(d, key, nil) } // without a value, there is no error

// PutSetting stores the overlay of a section as JSON; nil deletes it.
func (d *Draft) PutSetting(section string, value json.RawMessage) {
	if kind, _, is := SplitOverlay(section); !is || kind != OverTarget { // a server by host name is not an overlay
		d.stale = true
	}
	if !d.owned[store.KindSetting] {
		d.markCopied(store.KindSetting)
		if d.next.Settings = maps.Clone(d.next.Settings); d.next.Settings == nil {
			d.next.Settings = map[string]json.RawMessage{}
		}
	}
	all := d.next.Settings
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

// markCopied notes that the draft has its own map of a kind.
func (d *Draft) markCopied(kind string) {
	if d.owned == nil {
		d.owned = map[string]bool{}
	}
	d.owned[kind] = true
}
