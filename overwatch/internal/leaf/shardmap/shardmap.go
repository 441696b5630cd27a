// Package shardmap provides a map that is cheap to copy and to compare after few changes. It serves objects of which
// there may be 100 000, while a change affects few of them. A Map consists of shards; versions of a Map share the
// shards that did not change. Names with the same part before the first blank are in the same shard.
package shardmap

import (
	"hash/maphash"
	"iter"
	"maps"
	"strings"
)

// shardCount is the number of shards. With 100 000 entries, a change of an entry copies about 100 entries and the list
// of shards.
const shardCount = 1024

// seed is the hash seed of all maps, so that equal names of two maps are in the same shard.
var seed = maphash.MakeSeed()

// Map maps names to values. A nil *Map is an empty map for readers. Only the goroutine that called Edit may change the
// result, and only until it passes the result to readers.
type Map[V comparable] struct {
	shards [shardCount]*shard[V]
	own    [shardCount / 64]uint64 // shards that no other Map shares
	count  int
}

// shard has the entries of a Map with the same part of the hash.
type shard[V comparable] struct{ entries map[string]V }

// shardOf returns the number of the shard of a name, which depends on its part before the first blank.
func shardOf(name string) int {
	first, _, _ := strings.Cut(name, " ")
	return int(maphash.String(seed, first) % shardCount)
}

// Len returns the number of entries.
func (m *Map[V]) Len() int {
	if m == nil {
		return 0
	}
	return m.count
}

// Get returns the value of a name, or the zero value.
func (m *Map[V]) Get(name string) (value V) {
	if m == nil {
		return value
	}
	if s := m.shards[shardOf(name)]; s != nil {
		return s.entries[name]
	}
	return value
}

// All yields all entries in no particular order.
func (m *Map[V]) All() iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		if m == nil {
			return
		}
		for _, s := range m.shards {
			if s == nil {
				continue
			}
			for name, value := range s.entries {
				if !yield(name, value) {
					return
				}
			}
		}
	}
}

// Names yields all names in no particular order.
func (m *Map[V]) Names() iter.Seq[string] {
	return func(yield func(string) bool) {
		for name := range m.All() {
			if !yield(name) {
				return
			}
		}
	}
}

// Beside yields the entries whose names begin with first, or first and a blank, in no particular order. Its cost does
// not depend on the number of other entries.
func (m *Map[V]) Beside(first string) iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		if m == nil {
			return
		}
		for name, value := range m.shards[shardOf(first)].all() {
			if rest, is := strings.CutPrefix(name, first); is && (rest == "" || rest[0] == ' ') && !yield(name, value) {
				return
			}
		}
	}
}

// Edit returns a copy for changes. m remains unchanged.
func (m *Map[V]) Edit() *Map[V] {
	next := new(Map[V])
	if m != nil {
		next.shards, next.count = m.shards, m.count
	}
	return next
}

// Put sets the value of a name.
func (m *Map[V]) Put(name string, value V) {
	s := m.edit(shardOf(name))
	before := len(s.entries)
	s.entries[name] = value
	m.count += len(s.entries) - before
}

// Delete removes a name, if it exists.
func (m *Map[V]) Delete(name string) {
	at := shardOf(name)
	if s := m.shards[at]; s == nil {
		return
	} else if _, there := s.entries[name]; !there {
		return
	}
	delete(m.edit(at).entries, name)
	m.count--
}

// edit returns a shard that no other Map shares.
func (m *Map[V]) edit(at int) *shard[V] {
	word, bit := at/64, uint64(1)<<(at%64)
	if m.own[word]&bit != 0 {
		return m.shards[at]
	}
	own := &shard[V]{}
	if s := m.shards[at]; s != nil {
		own.entries = maps.Clone(s.entries)
	} else {
		own.entries = map[string]V{}
	}
	m.shards[at] = own
	m.own[word] |= bit
	return own
}

// Changes yields each name with another value in after than in before. Its cost depends on the number of changed shards
// if after is an edited copy of before.
func Changes[V comparable](before, after *Map[V]) iter.Seq[string] {
	var none Map[V]
	if before == nil {
		before = &none
	}
	if after == nil {
		after = &none
	}
	return func(yield func(string) bool) {
		for i := range shardCount {
			if before.shards[i] == after.shards[i] || before == after {
				continue
			}
			was, is := before.shards[i].all(), after.shards[i].all()
			for name, value := range is {
				if old, there := was[name]; (!there || old != value) && !yield(name) {
					return
				}
			}
			for name := range was {
				if _, there := is[name]; !there && !yield(name) {
					return
				}
			}
		}
	}
}

func (s *shard[V]) all() map[string]V {
	if s == nil {
		return nil
	}
	return s.entries
}
