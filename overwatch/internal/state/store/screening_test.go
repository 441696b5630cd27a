package store // inside: it uses screening

import (
	"testing"

	"gslb.internal/overwatch/internal/state/replica"
)

// A peer that alternately creates and deletes objects cannot exceed the limits of a node. Deletions of stored objects
// are always stored.
func TestScreening_ObjectsAndDeletionsAreBoundedTogether(t *testing.T) {
	object := &replica.Object{Key: replica.Key{Kind: KindDomain, Name: "app.example"}}
	deletion := &replica.Object{Key: object.Key, Deleted: true}
	for name, c := range map[string]struct {
		objects, tombstones int
		of                  *replica.Object
		added, restored     bool
		full                bool
	}{
		"a new object":               {replica.MaxObjects - 1, 0, object, true, false, false},
		"an object above the bound":  {replica.MaxObjects, 0, object, true, false, true},
		"a restored object above it": {replica.MaxObjects, 1, object, false, true, true},
		"a restored object":          {replica.MaxObjects - 1, 1, object, false, true, false},
		"a deletion of an object":    {1, replica.MaxObjects + replica.MaxTombstones, deletion, false, false, false},
		"a deletion above the bound": {0, replica.MaxTombstones, deletion, true, false, true},
		"a new object after many":    {0, replica.MaxObjects + replica.MaxTombstones, object, true, false, true},
		"a change of many objects":   {replica.MaxObjects, replica.MaxTombstones, object, false, false, false},
	} {
		s := &screening{objects: c.objects, tombstones: c.tombstones, held: map[replica.Key]int{}}
		if err := s.full(c.of, c.added, c.restored, false); (err != nil) != c.full {
			t.Errorf("%s: %v", name, err)
		}
	}
}
