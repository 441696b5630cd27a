package model

import "slices"

// Names of kinds of objects, as replication and plans name them.
const (
	KindDomain  = "domain"
	KindRegion  = "region"
	KindMapping = "mapping"
)

// Object is an object of a kind. Each object of a kind has another key.
type Object interface{ Key() string }

// Kind describes a kind of objects that operators define and all nodes share. The store, replication, documents, undo
// and the audit log handle the objects of all kinds by this description.
type Kind struct {
	Name     string
	Plural   string                       // the list of the objects in documents, and their records in the store
	Resource string                       // in the audit log
	Decode   func([]byte) (Object, error) // returns the object of a stored form
}

// Kinds returns the kinds with objects that only consist of declared fields. Servers, admin states, settings and agents
// also have state of the node.
func Kinds() []Kind {
	return []Kind{
		{KindRegion, "regions", "region", DecodeObject[Region]},
		{KindDomain, "domains", "domain", DecodeObject[Domain]},
		{KindMapping, "mappings", "geo_mapping", DecodeObject[Mapping]},
		{KindRecord, "records", "record", DecodeObject[Record]},
	}
}

// KindOf returns the kind with a name, which Kinds has.
func KindOf(name string) Kind {
	all := Kinds()
	return all[slices.IndexFunc(all, func(k Kind) bool { return k.Name == name })]
}

// DecodeObject is Decode for an object of a kind.
func DecodeObject[T any, P interface {
	*T
	Object
}](data []byte) (Object, error) {
	made, err := Decode[T](data)
	if err != nil {
		return nil, err
	}
	return P(made), nil
}
