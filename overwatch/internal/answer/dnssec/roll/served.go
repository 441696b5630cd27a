package roll

import (
	"slices"
	"time"
)

// maxServed is the maximum number of entries of a Served.
const maxServed = 16

// Served contains the TTLs of a kind of RRset in the answers of a node, while caches may contain them. It is not safe
// for concurrent use.
type Served []ServedTTL

// ServedTTL is an entry of a Served.
type ServedTTL struct {
	TTL   time.Duration `json:"ttl"`
	Until time.Time     `json:"cached_until,omitzero"` // zero while answers have the TTL
}

// Serve adds a TTL that answers have from now on. It reports whether the list changed.
func (s *Served) Serve(ttl time.Duration) (changed bool) {
	if slices.ContainsFunc(*s, func(e ServedTTL) bool { return e.Until.IsZero() && e.TTL >= ttl }) {
		return false
	}
	ended := slices.DeleteFunc(slices.Clone(*s), func(e ServedTTL) bool { return e.Until.IsZero() })
	*s = append(ended, ServedTTL{TTL: ttl})
	s.shrink()
	return true
}

// Replace is Stop, and adds ttl. It reports whether the list changed.
func (s *Served) Replace(ttl time.Duration, now time.Time) (changed bool) {
	if slices.ContainsFunc(*s, func(e ServedTTL) bool { return e.Until.IsZero() && e.TTL == ttl }) {
		return false
	}
	s.Stop(now)
	return s.Serve(ttl)
}

// Stop records that answers no longer have the TTLs. Caches may contain RRsets with such a TTL for the duration of the
// TTL.
func (s *Served) Stop(now time.Time) {
	for i := range *s {
		if e := &(*s)[i]; e.Until.IsZero() {
			e.Until = now.Add(e.TTL).UTC().Round(0)
		}
	}
	s.shrink()
}

// Longest returns the longest TTL of RRsets in current answers or in caches.
func (s Served) Longest(now time.Time) (longest time.Duration) {
	for _, e := range s {
		if e.Until.IsZero() || now.Before(e.Until) {
			longest = max(longest, e.TTL)
		}
	}
	return longest
}

// Valid reports whether the TTLs and the length of the list are within their bounds.
func (s Served) Valid() bool {
	return len(s) <= maxServed && !slices.ContainsFunc(s, func(e ServedTTL) bool { return e.TTL < 0 || e.TTL > maxTTL })
}

// shrink deletes entries with a shorter TTL and an earlier end than another entry. It then merges the entries with the
// earliest ends, until at most maxServed remain.
func (s *Served) shrink() {
	list := slices.SortedFunc(slices.Values(*s), func(a, b ServedTTL) int { return b.ends().Compare(a.ends()) })
	var kept Served
	for _, e := range list {
		if len(kept) == 0 || e.TTL > kept[len(kept)-1].TTL {
			kept = append(kept, e)
		}
	}
	for last := len(kept) - 1; last >= maxServed; last-- {
		kept[last-1].TTL = kept[last].TTL // the longer TTL
		kept = kept[:last]
	}
	*s = kept
}

// ends returns the time until which caches may contain an RRset with the TTL.
func (e *ServedTTL) ends() time.Time {
	if e.Until.IsZero() {
		return time.Unix(1<<40, 0) // after all other times
	}
	return e.Until
}
