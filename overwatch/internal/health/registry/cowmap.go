package registry

import (
	"hash/maphash"
	"iter"
	"maps"
	"sync/atomic"
)

// cowShards is the number of parts a cowMap is cut into. A change copies one part, so with 100 000 keys it copies about
// a hundred of them; an empty map costs 8 KiB.
const cowShards = 1024

// cowMap is a map from names to pointers that any number of goroutines read without a lock while one goroutine changes
// it. A read sees a change completely or not at all; two reads may see different states.
type cowMap[V any] struct {
	seed   maphash.Seed
	shards [cowShards]atomic.Pointer[map[string]*V]
}

func newCowMap[V any]() *cowMap[V] {
	return &cowMap[V]{seed: maphash.MakeSeed()}
}

func (m *cowMap[V]) shard(name string) *atomic.Pointer[map[string]*V] {
	return &m.shards[maphash.String(m.seed, name)%cowShards]
}

// get returns what is stored under name, nil for nothing.
func (m *cowMap[V]) get(name string) *V {
	part := m.shard(name).Load()
	if part == nil {
		return nil
	}
	return (*part)[name]
}

// all yields every entry, in no order.
func (m *cowMap[V]) all() iter.Seq2[string, *V] {
	return func(yield func(string, *V) bool) {
		for i := range m.shards {
			part := m.shards[i].Load()
			if part == nil {
				continue
			}
			for name, v := range *part {
				if !yield(name, v) {
					return
				}
			}
		}
	}
}

// update stores every entry of changes and deletes those that are nil. Each part is copied once, however many of its
// entries change. Only the one writer may call it.
func (m *cowMap[V]) update(changes map[string]*V) {
	touched := make(map[*atomic.Pointer[map[string]*V]]map[string]*V, min(len(changes), cowShards))
	for name, v := range changes {
		shard := m.shard(name)
		part := touched[shard]
		if part == nil {
			part = copyPart(shard.Load())
			touched[shard] = part
		}
		if v == nil {
			delete(part, name)
		} else {
			part[name] = v
		}
	}
	for shard, part := range touched {
		shard.Store(&part)
	}
}

func copyPart[V any](part *map[string]*V) map[string]*V {
	if part == nil || *part == nil {
		return make(map[string]*V)
	}
	return maps.Clone(*part)
}
