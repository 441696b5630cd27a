package geo

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
)

// MatchType names the source of a placement; its values are those of the HTTP API.
type MatchType string

// What can place a client.
const (
	ByCustomMapping MatchType = "custom_mapping"
	ByCountry       MatchType = "country"
	ByContinent     MatchType = "continent"
	ByDefault       MatchType = "default"
)

// Explanation is a placement with its reasons. Scope is that of Locate.
type Explanation struct {
	Client      netip.Addr // the address that was looked up: the IPv4 address inside where there is one
	Region      string     // empty: in no region
	Match       MatchType
	MatchedCIDR netip.Prefix // the mapping's or the database's network; not valid for a default
	Comment     string       // of the mapping
	Place       Place        // of the database, also where a mapping decided
	Scope       uint8
}

// Explain places a client among all regions, with the reasons. It may allocate.
func (t *Table) Explain(client netip.Addr) (Explanation, error) { return t.explain(client, t.Name) }

// ExplainFor is Explain for a name. clients has the region of its clients by RegionID.
func (t *Table) ExplainFor(client netip.Addr, clients []string) (Explanation, error) {
	return t.explain(client, func(id RegionID) string {
		if int(id) >= len(clients) { // clients belongs to another table
			return ""
		}
		return clients[id]
	})
}

func (t *Table) explain(client netip.Addr, regionOf func(RegionID) string) (Explanation, error) {
	if !client.IsValid() {
		return Explanation{}, fmt.Errorf("not an address")
	}
	id, scope := t.Locate(client)
	e := Explanation{Client: client.WithZone(""), Match: ByDefault, Scope: scope, Region: regionOf(id)}
	if v4, _, ok := embedded(client); ok {
		e.Client = ipv4(v4)
	}
	var network netip.Prefix
	if t.sources.Database != nil {
		var err error
		if e.Place, network, err = t.sources.Database.lookup(e.Client); err != nil {
			return Explanation{}, err
		}
	}
	for _, m := range t.mappings(e.Client) {
		if m.Region == e.Region {
			e.Match, e.MatchedCIDR, e.Comment = ByCustomMapping, canonical(m.CIDR), m.Comment
			return e, nil
		}
	}
	b := newBuilder(t.sources)
	isRegion := func(id uint16) bool { return t.sources.Regions[id].Name == e.Region }
	switch {
	case slices.ContainsFunc(b.countries[e.Place.Country], isRegion):
		e.Match, e.MatchedCIDR = ByCountry, network
	case slices.ContainsFunc(b.continents[e.Place.Continent], isRegion):
		e.Match, e.MatchedCIDR = ByContinent, network
	}
	return e, nil
}

// Name returns the first region of a ranking, empty for NoRegion.
func (t *Table) Name(id RegionID) string {
	if len(t.rankings[id]) == 0 {
		return ""
	}
	return t.rankings[id][0]
}

// mappings returns the mappings that contain a, that with the longest prefix first.
func (t *Table) mappings(a netip.Addr) (found []Mapping) {
	for _, m := range t.sources.Mappings {
		if canonical(m.CIDR).Contains(a) {
			found = append(found, m)
		}
	}
	slices.SortFunc(found, func(x, y Mapping) int {
		return cmp.Compare(canonical(y.CIDR).Bits(), canonical(x.CIDR).Bits())
	})
	return found
}
