package control

import (
	"cmp"
	"maps"
	"slices"

	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/overwatch/internal/state/replica"
)

// leftOut has the objects without effect, because they do not fit the configuration file. It is immutable.
type leftOut map[replica.Key]bool

// missingIn returns the objects of set that are missing in fits, which is a subset of set.
func missingIn(set, fits *definitions.Set) leftOut {
	left := leftOut{}
	for _, k := range definitions.All() {
		for _, name := range k.Differences(set, fits) {
			left[replica.Key{Kind: k.Name(), Name: name}] = true
		}
	}
	return left
}

// remaining returns the objects that stay without effect when next replaces before: the objects that are equal in both.
func (l leftOut) remaining(before, next *definitions.Set) leftOut {
	if len(l) == 0 {
		return l
	}
	still := maps.Clone(l)
	for _, k := range definitions.All() {
		for _, name := range k.Differences(before, next) {
			delete(still, replica.Key{Kind: k.Name(), Name: name})
		}
	}
	return still
}

// removeFrom returns the set without the objects in l.
func (l leftOut) removeFrom(set *definitions.Set, file *config.Config) *definitions.Set {
	if len(l) == 0 {
		return set
	}
	draft := set.Edit(file, file, nil)
	for key := range l {
		draft.Delete(key.Kind, key.Name)
	}
	return draft.Set()
}

// LeftOut returns the objects without effect, because they do not fit the configuration file.
func (s *State) LeftOut() []replica.Key {
	return slices.SortedFunc(maps.Keys(s.shown.Load().left), func(a, b replica.Key) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
}
