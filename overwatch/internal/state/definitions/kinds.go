package definitions

import (
	"encoding/json"

	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/model"
)

// Set has the definitions of the API. It is immutable.
type Set struct {
	Regions  map[string]*model.Region
	Domains  map[string]*model.Domain
	Mappings map[string]*model.Mapping  // by their canonical network
	Records  *Records                   // by key
	Nodes    map[string]*store.Node     // agents that were announced, by id
	Tokens   map[string]*model.Token    // by name
	Settings map[string]json.RawMessage // by section, or by OverlayKey
}

// Bounds of the definitions of the API.
const (
	MaxRegions  = 1_000
	MaxDomains  = 10_000
	MaxMappings = 100_000
	MaxRecords  = 100_000
	MaxNodes    = 10_000
	MaxTokens   = 1_000
)

// Kind is a kind of definitions. Sets, drafts, the store, replication and undo handle the objects of all kinds through
// this interface.
type Kind interface {
	// Name is the name of the kind in the store, in replication and in plans.
	Name() string
	// Check returns the first fault of an object of another node, according to the rules of an API change. value is its
	// stored form.
	Check(name string, value json.RawMessage) error
	// Define puts an object into a draft, or deletes the object if value, its stored form, is nil.
	Define(d *Draft, name string, value json.RawMessage) error
	// Differences returns the names of the objects that differ between two Sets.
	Differences(before, after *Set) []string
	// Unused returns why an object of a Set has no effect, "" if it has an effect. missing reports whether no enabled
	// region has a name.
	Unused(s *Set, name string, missing func(region string) bool) string

	// put adds an object to a draft, or replaces the object with the same key. It returns false for an object of another
	// kind.
	put(d *Draft, object model.Object) bool
	load(s *Set, name string, value []byte) error
	save(b *store.Batch, s *Set, name string) // stores the object of s, or its deletion
	mark(k *Kinds, name string)               // notes a changed object
	hide(d *Draft)                            // deletes the objects that the file also has
	fileNames(file *config.Config) []string   // the names of the objects of a file
	join(s *Set, j *joining)                  // adds the objects to a configuration
}

// Declared is a Kind with objects that only consist of declared fields. Documents and undo handle all of them.
type Declared interface {
	Kind
	// Plural is the list of the objects in documents.
	Plural() string
	// Resource is the kind in the audit log.
	Resource() string
	// Max is the maximum number of objects of the API.
	Max() int
	// Objects returns the objects of a Set by key.
	Objects(s *Set) map[string]model.Object
	// Get returns an object of a Set, or nil.
	Get(s *Set, key string) model.Object
	// Decode returns the object of a stored form.
	Decode(value []byte) (model.Object, error)
	// NewPatch returns a pointer to an empty merge patch, into which the fields of a request are decoded.
	NewPatch() any
	// New returns an object with the fields of a patch of NewPatch. source is as in model.Patch.Apply. The error is a
	// fault that depends neither on other objects nor on the file.
	New(patch any, source string) (model.Object, error)
	// Written returns the fields of an object for a document.
	Written(model.Object) any
	// Regions returns the regions that an object names.
	Regions(model.Object) []string
}

// kinds has the kinds in the order in which they join a configuration. It is never changed.
var kinds = []Kind{
	&objects[model.Region]{kind: model.KindOf(model.KindRegion), most: MaxRegions, check: CheckRegion,
		in:      func(s *Set) *map[string]*model.Region { return &s.Regions },
		changed: func(k *Kinds) { k.Regions, k.Answers = true, true }, ofFile: regionsOf, joins: (*joining).regions},
	&objects[model.Domain]{kind: model.KindOf(model.KindDomain), most: MaxDomains, check: CheckDomain,
		in:      func(s *Set) *map[string]*model.Domain { return &s.Domains },
		changed: func(k *Kinds) { k.Domains, k.Answers = true, true }, ofFile: domainsOf, joins: (*joining).domains,
		unused: unusedDomain, regions: func(d *model.Domain) []string { return d.Regions }},
	&objects[model.Mapping]{kind: model.KindOf(model.KindMapping), most: MaxMappings, check: CheckMapping,
		in:      func(s *Set) *map[string]*model.Mapping { return &s.Mappings },
		changed: func(k *Kinds) { k.Answers = true }, ofFile: mappingsOf, joins: (*joining).mappings,
		unused: unusedMapping, regions: func(m *model.Mapping) []string { return []string{m.Region} }},
	newRecordKind(),
	&objects[store.Node]{kind: model.Kind{Name: store.KindAgent, Plural: "agents", Resource: "agent"}, most: MaxNodes,
		check: CheckNode, in: func(s *Set) *map[string]*store.Node { return &s.Nodes }, changed: func(*Kinds) {}},
	secretKind{&objects[model.Token]{kind: model.Kind{Name: store.KindToken, Plural: "tokens", Resource: store.KindToken},
		most: MaxTokens, check: CheckToken, in: func(s *Set) *map[string]*model.Token { return &s.Tokens },
		changed: func(*Kinds) {}}},
	settingKind{},
}

// secretKind is a kind with secret objects. It is not Declared, so that documents and undo have no such objects.
type secretKind struct{ Kind }

// All returns the kinds of definitions.
func All() []Kind { return kinds }

// Find returns the kind with a name, or nil.
func Find(name string) Kind {
	for _, k := range kinds {
		if k.Name() == name {
			return k
		}
	}
	return nil
}

// AllDeclared returns the kinds with objects that only consist of declared fields.
func AllDeclared() (list []Declared) {
	for _, k := range kinds {
		if d, is := k.(Declared); is {
			list = append(list, d)
		}
	}
	return list
}
