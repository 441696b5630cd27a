package control

import (
	"bytes"
	"maps"
	"slices"

	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/overwatch/internal/state/replica"
	"gslb.internal/overwatch/internal/state/store"
)

// leftOut has the names of objects without effect, because they do not fit the configuration file. It is immutable.
type leftOut struct{ domains, regions, settings map[string]bool }

// missingIn returns the objects of set that are missing in fits, a part of it.
func missingIn(set, fits *definitions.Set) (left leftOut) {
	left.domains = missing(set.Domains, fits.Domains)
	left.regions = missing(set.Regions, fits.Regions)
	left.settings = missing(set.Settings, fits.Settings)
	return left
}

func missing[V any](all, some map[string]V) map[string]bool {
	var names map[string]bool
	for name := range all {
		if _, there := some[name]; !there {
			if names == nil {
				names = make(map[string]bool)
			}
			names[name] = true
		}
	}
	return names
}

func (l leftOut) empty() bool { return len(l.domains)+len(l.regions)+len(l.settings) == 0 }

// remaining returns the objects that stay without effect when next replaces before: the objects that are equal in both.
func (l leftOut) remaining(before, next *definitions.Set) (still leftOut) {
	if l.empty() {
		return l
	}
	still = leftOut{maps.Clone(l.domains), maps.Clone(l.regions), maps.Clone(l.settings)}
	maps.DeleteFunc(still.domains, func(name string, _ bool) bool { return before.Domains[name] != next.Domains[name] })
	maps.DeleteFunc(still.regions, func(name string, _ bool) bool { return before.Regions[name] != next.Regions[name] })
	maps.DeleteFunc(still.settings, func(section string, _ bool) bool {
		return !bytes.Equal(before.Settings[section], next.Settings[section])
	})
	return still
}

// removeFrom returns the set without the objects in l.
func (l leftOut) removeFrom(set *definitions.Set, file *config.Config) *definitions.Set {
	if l.empty() {
		return set
	}
	draft := set.Edit(file, file, nil)
	for name := range l.domains {
		draft.DeleteDomain(name)
	}
	for name := range l.regions {
		draft.DeleteRegion(name)
	}
	for section := range l.settings {
		draft.PutSetting(section, nil)
	}
	return draft.Set()
}

// LeftOut returns the objects without effect, because they do not fit the configuration file.
func (s *State) LeftOut() (keys []replica.Key) {
	l := s.shown.Load().left
	for kind, names := range map[string]map[string]bool{store.KindDomain: l.domains, store.KindRegion: l.regions,
		store.KindSetting: l.settings} {
		for _, name := range slices.Sorted(maps.Keys(names)) {
			keys = append(keys, replica.Key{Kind: kind, Name: name})
		}
	}
	return keys
}
