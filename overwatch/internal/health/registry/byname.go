package registry

import (
	"iter"
	"sync"
)

// byName is a map from names to pointers with a single writer and concurrent readers. Reading a name is atomic. Two
// reads may return different states. The zero byName is empty.
type byName[V any] struct{ entries sync.Map }

// get returns the entry of a name, or nil.
func (m *byName[V]) get(name string) *V {
	if v, there := m.entries.Load(name); there {
		return v.(*V)
	}
	return nil
}

// all yields all entries, in no order.
func (m *byName[V]) all() iter.Seq2[string, *V] {
	return func(yield func(string, *V) bool) {
		m.entries.Range(func(name, v any) bool { return yield(name.(string), v.(*V)) })
	}
}

// update stores the non-nil entries of changes and deletes the nil entries.
func (m *byName[V]) update(changes map[string]*V) {
	for name, v := range changes {
		if v == nil {
			m.entries.Delete(name)
		} else {
			m.entries.Store(name, v)
		}
	}
}
