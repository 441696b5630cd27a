package roll

import (
	"slices"
	"time"
)

// maxServed bounds the entries of a Served.
const maxServed = 16

// Served lists the TTLs with which a node has served a kind of RRset, as long as caches may hold one of them. It is not
// safe for concurrent use.
type Served []ServedTTL

// ServedTTL is an entry of a Served.
type ServedTTL struct {
	TTL   time.Duration `json:"ttl"`
	Until time.Time     `json:"cached_until,omitzero"` // zero: the TTL is served now
}

// Serve adds a TTL that is served from now on. It reports whether the list has changed.
func (s *Served) Serve(ttl time.Duration) (changed bool) {
	if slices.ContainsFunc(*s, func(e ServedTTL) bool { return e.Until.IsZero() && e.TTL >= ttl }) {
		return false
	}
	ended := slices.DeleteFunc(slices.Clone(*s), func(e ServedTTL) bool { return e.Until.IsZero() })
	*s = append(ended, ServedTTL{TTL: ttl})
	s.shrink()
	return true
}

// Replace ends all TTLs that are served now and adds the TTL that is served from now on. It reports whether the list
// has changed.
func (s *Served) Replace(ttl time.Duration, now time.Time) (changed bool) {
	if slices.ContainsFunc(*s, func(e ServedTTL) bool { return e.Until.IsZero() && e.TTL == ttl }) {
		return false
	}
	s.Stop(now)
	return s.Serve(ttl)
}

// Stop ends all TTLs that are served now. Caches may hold RRsets with such a TTL for this TTL from now on.
func (s *Served) Stop(now time.Time) {
	for i := range *s {
		if e := &(*s)[i]; e.Until.IsZero() {
			e.Until = now.Add(e.TTL).UTC().Round(0)
		}
	}
	s.shrink()
}

// Longest returns the longest TTL that is served now, or that a cache may hold now.
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

// shrink deletes each entry that an entry of a longer TTL outlasts. It then joins the entries that end first, until
// maxServed are left.
func (s *Served) shrink() {
	list := slices.SortedFunc(slices.Values(*s), func(a, b ServedTTL) int { return b.ends().Compare(a.ends()) })
	var kept Served
	for _, e := range list {
		if len(kept) == 0 || e.TTL > kept[len(kept)-1].TTL {
			kept = append(kept, e)
		}
	}
	for last := len(kept) - 1; last >= maxServed; last-- {
		kept[last-1].TTL = kept[last].TTL // the longer one
		kept = kept[:last]
	}
	*s = kept
}

// ends returns the time until which caches may hold an RRset of the TTL, as far as it is known.
func (e *ServedTTL) ends() time.Time {
	if e.Until.IsZero() {
		return time.Unix(1<<40, 0) // after all others
	}
	return e.Until
}
