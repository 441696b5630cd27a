package model

import (
	"slices"
	"strings"
)

// Actions of a token's scope.
const (
	ActionRead    = "read"    // operations that change nothing
	ActionOperate = "operate" // overrides, weights, drains, failbacks, own checks
	ActionDefine  = "define"  // changes of objects and documents
)

// TokenActions lists the actions of a scope.
func TokenActions() []string { return []string{ActionRead, ActionOperate, ActionDefine} }

// TokenScope limits a token to objects and actions. An object is inside a scope if each list with entries contains it.
// Without zones, names, kinds, regions and owners, a token has no limit of objects.
type TokenScope struct {
	// Domains: each name is allowed that equals a zone or is below it.
	Zones []string `json:"zones,omitempty" usage:"allow the names in these zones"`
	// Domains: each name is allowed that is in this list. `*.example.com` allows all names below `example.com`. A name
	// needs an entry of `zones` or of `names`.
	Names []string `json:"names,omitempty" usage:"allow these names; *.example.com allows all names below example.com"`
	// Kinds of objects: `domain`, `server`, `region`, `mapping`, `record`, `agent`, `override`, `weight`, `drain`,
	// `failback`.
	Kinds []string `json:"kinds,omitempty" usage:"allow these kinds of objects, such as server,drain"`
	// Regions. All regions of an object must be in this list; an object without a region is outside.
	Regions []string `json:"regions,omitempty" usage:"allow the objects in these regions"`
	// Owners of objects, as documents set them. An object without an owner is outside.
	Owners []string `json:"owners,omitempty" usage:"allow the objects of these owners"`
	// `read`, `operate`, `define`. Default: all actions of the role.
	Actions []string `json:"actions,omitempty" usage:"allow these actions: read, operate, define"`
}

// ScopedObject has the properties of an object to which scopes apply.
type ScopedObject struct {
	Kind    string
	Names   []string // canonical names of domains
	Regions []string
	Owner   string // empty: none
}

// IsLimited reports whether the scope limits the objects.
func (s *TokenScope) IsLimited() bool {
	return len(s.Zones)+len(s.Names)+len(s.Kinds)+len(s.Regions)+len(s.Owners) > 0
}

// Permits reports whether the scope has an action.
func (s *TokenScope) Permits(action string) bool {
	return len(s.Actions) == 0 || slices.Contains(s.Actions, action)
}

// Covers reports whether an object is inside the scope. For a scope with zones or names, an object without a name is
// outside.
func (s *TokenScope) Covers(o ScopedObject) bool {
	if len(s.Kinds) > 0 && !slices.Contains(s.Kinds, o.Kind) {
		return false
	}
	if len(s.Owners) > 0 && (o.Owner == "" || !slices.Contains(s.Owners, o.Owner)) {
		return false
	}
	if len(s.Zones)+len(s.Names) > 0 && !allOf(o.Names, s.coversName) {
		return false
	}
	return len(s.Regions) == 0 || allOf(o.Regions, func(region string) bool {
		return slices.ContainsFunc(s.Regions, func(r string) bool { return strings.EqualFold(r, region) })
	})
}

// coversName reports whether zones and names allow a name. A name with an escaped character is outside: a label such as
// `x\.app` contains a dot that separates no labels.
func (s *TokenScope) coversName(name string) bool {
	if strings.Contains(name, `\`) {
		return false
	}
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	isBelow := func(zone string) bool { return strings.HasSuffix(name, "."+zone) }
	return slices.ContainsFunc(s.Zones, func(zone string) bool { return name == zone || isBelow(zone) }) ||
		slices.ContainsFunc(s.Names, func(pattern string) bool {
			below, wildcard := strings.CutPrefix(pattern, "*.")
			return name == pattern || wildcard && isBelow(below)
		})
}

// allOf reports whether a list has entries, and all of them satisfy a condition.
func allOf(list []string, holds func(string) bool) bool {
	return len(list) > 0 && !slices.ContainsFunc(list, func(one string) bool { return !holds(one) })
}

// ScopedOf returns the properties of an object of a kind to which scopes apply. An object of a kind without such
// properties is outside each scope with zones, names, regions or owners.
func ScopedOf(kind string, object any) ScopedObject {
	if o, is := object.(interface{ Scoped() ScopedObject }); is {
		return o.Scoped()
	}
	return ScopedObject{Kind: kind}
}

// kindServer is the kind of servers.
const kindServer = "server"

// Scoped returns the properties of the domain to which scopes apply.
func (d *Domain) Scoped() ScopedObject {
	return ScopedObject{Kind: KindDomain, Names: []string{d.Name}, Regions: d.Regions, Owner: d.Owner}
}

// Scoped returns the properties of the server to which scopes apply.
func (s *Server) Scoped() ScopedObject {
	o := ScopedObject{Kind: kindServer, Names: []string{s.Service}, Owner: s.Owner}
	if s.Region != "" {
		o.Regions = []string{s.Region}
	}
	return o
}

// Scoped returns the properties of the region to which scopes apply.
func (r *Region) Scoped() ScopedObject {
	return ScopedObject{Kind: KindRegion, Regions: []string{r.Name}, Owner: r.Owner}
}

// Scoped returns the properties of the mapping to which scopes apply.
func (m *Mapping) Scoped() ScopedObject {
	return ScopedObject{Kind: KindMapping, Regions: []string{m.Region}, Owner: m.Owner}
}

// Scoped returns the properties of the record to which scopes apply.
func (r *Record) Scoped() ScopedObject {
	return ScopedObject{Kind: KindRecord, Names: []string{r.Name}, Owner: r.Owner}
}

// Scoped returns the properties of the records to which scopes apply.
func (s *RecordSet) Scoped() ScopedObject {
	return ScopedObject{Kind: KindRecord, Names: []string{s.Name}, Owner: s.Owner}
}
