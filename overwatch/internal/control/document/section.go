package document

import (
	"encoding/json"
	"iter"
	"slices"
	"time"

	"gslb.internal/overwatch/internal/health/inventory"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/shared/model"
)

// section is the part of documents with the objects of a kind. Objects are pointers, by their ids.
type section struct {
	name   string // unique
	kind   string // in plans and messages
	list   string // in documents
	plural string // in messages
	state  string // in stored states
	most   int    // maximum number of objects of the API

	// read returns a function that makes the object of an element of the list; nil: another section of the list reads it.
	read func(*reader) func(json.RawMessage) (read, error)
	// held returns the current objects of the API. The caller owns the map.
	held func(*Planner, *definitions.Set) map[string]any
	// get returns a current object, or nil; nil: the objects are not definitions.
	get func(set *definitions.Set, id string) any
	// put puts an object into a draft, or deletes the object if it is nil; nil: the objects are not definitions.
	put func(d *definitions.Draft, id string, object any) error
	// check adds the faults of an object that depend on other objects. was is the current object, or nil.
	check func(c *checker, id string, object, was any)
	// write returns an object for a document, or nil to omit it.
	write func(pl *Planner, id string, object any) (any, error)
	// compare orders the objects of a document; nil: by id.
	compare func(a, b any) int
	// owned returns the fields of an object that a plan sets.
	owned func(object any) ownership
	// regions returns the regions that an object names. A region cannot be deleted while an object names it.
	regions func(object any) []string
	// affects returns the load-balanced name whose answers depend on an object; nil: no answers depend on it.
	affects func(object any) string
	// everywhere: answers of all names depend on the objects.
	everywhere bool
	// encode and decode convert objects to and from their form in a stored state.
	encode func(map[string]any) (any, error)
	decode func(json.RawMessage) (map[string]any, error)
}

// read is the object of an element of a list.
type read struct {
	section string
	id      string
	object  any
}

// ownership has pointers to the fields of an object that a plan sets: owner, creation time, modification time, and the
// fields of later versions, which no document has. For a field that the kind lacks, the pointer refers to an unused
// value.
type ownership struct {
	owner            *string
	created, changed *time.Time
	extra            *map[string]json.RawMessage
}

// newOwnership returns the ownership of an object that lacks all these fields.
func newOwnership() ownership {
	return ownership{new(string), new(time.Time), new(time.Time), new(map[string]json.RawMessage)}
}

// Names of the sections that other code refers to.
const (
	sectionServers  = "server"
	sectionTargets  = "target" // servers by host name
	sectionSettings = "settings"
)

// sections returns the sections in the order of plans. A kind of declared objects needs no code of its own.
func sections() []*section {
	own := map[string]func(definitions.Declared) *section{model.KindRegion: regionSection,
		model.KindDomain: domainSection, model.KindMapping: mappingSection,
		model.KindRecord: recordSection, agentKind: agentSection}
	list := []*section{}
	for _, k := range definitions.AllDeclared() {
		if made := own[k.Name()]; made != nil {
			list = append(list, made(k))
		} else {
			list = append(list, declaredSection(k))
		}
		if k.Name() == model.KindDomain {
			list = append(list, serverSection(), targetSection())
		}
	}
	return append(list, settingsSection())
}

// findSection returns the section with a name.
func findSection(name string) *section {
	all := sections()
	return all[slices.IndexFunc(all, func(s *section) bool { return s.name == name })]
}

// Objects has the objects of a document, or the current objects of the API, by section and id.
type Objects struct {
	of     map[string]map[string]any
	places map[string]string // positions in a document, such as domains[3], by kind and id
}

func newObjects() *Objects {
	o := &Objects{map[string]map[string]any{}, map[string]string{}}
	for _, s := range sections() {
		o.of[s.name] = map[string]any{}
	}
	return o
}

// typed returns the objects of a section with objects of type T.
func typed[T any](o *Objects, section string) iter.Seq2[string, *T] {
	return func(yield func(string, *T) bool) {
		for id, object := range o.of[section] {
			if !yield(id, object.(*T)) {
				return
			}
		}
	}
}

// listBounds returns the greatest length of each list of a document: the maximum number of objects in the API.
func listBounds() map[string]int {
	most := map[string]int{}
	for _, s := range sections() {
		most[s.list] += s.most
	}
	return most
}

const (
	// maxSettings is the maximum number of sections of settings in a document. The number of existing sections is lower.
	maxSettings = 100
	// objectsPerLook is the number of objects between two checks of the client connection.
	objectsPerLook = 256
	// maxServers is the maximum number of servers with an address.
	maxServers = inventory.MaxServers
)
