package shardmap_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"gslb.internal/overwatch/internal/leaf/shardmap"
)

// Each version equals a plain map after any sequence of changes, also after changes of later versions, and Changes
// returns the names with different values.
func TestMap_VersionsEqualPlainMaps(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var m *shardmap.Map[int]
	plain := map[string]int{}
	type version struct {
		m     *shardmap.Map[int]
		plain map[string]int
	}
	var versions []version
	for range 60 {
		versions = append(versions, version{m, maps.Clone(plain)})
		m = m.Edit()
		for range r.IntN(200) {
			name := strconv.Itoa(r.IntN(3000))
			if r.IntN(3) == 0 {
				m.Delete(name)
				delete(plain, name)
			} else {
				value := r.IntN(3)
				m.Put(name, value)
				plain[name] = value
			}
		}
	}
	for i, v := range versions {
		if v.m.Len() != len(v.plain) || !maps.Equal(maps.Collect(v.m.All()), v.plain) {
			t.Errorf("version %d differs: %d entries, want %d", i, v.m.Len(), len(v.plain))
		}
		var want []string
		for name, value := range plain {
			if was, there := v.plain[name]; !there || was != value {
				want = append(want, name)
			}
		}
		for name := range v.plain {
			if _, there := plain[name]; !there {
				want = append(want, name)
			}
		}
		if got := slices.Sorted(shardmap.Changes(v.m, m)); !slices.Equal(got, slices.Sorted(slices.Values(want))) {
			t.Errorf("version %d: %d changes, want %d", i, len(got), len(want))
		}
	}
	if m.Get("missing") != 0 || (*shardmap.Map[int])(nil).Get("x") != 0 {
		t.Error("a missing name has a value")
	}
}
