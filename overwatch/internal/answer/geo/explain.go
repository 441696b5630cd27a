package geo

import (
	"fmt"
	"net/netip"
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

// Explanation is a placement with its reasons. Region and Scope are those that Locate returns.
type Explanation struct {
	Client      netip.Addr // the address that was looked up: the IPv4 address inside where there is one
	Region      string     // empty: in no region
	Match       MatchType
	MatchedCIDR netip.Prefix // the mapping's or the database's network; not valid for a default
	Comment     string       // of the mapping
	Place       Place        // of the database, also where a mapping decided
	Scope       uint8
}

// Explain places a client as Locate does, with the reasons. It may allocate.
func (t *Table) Explain(client netip.Addr) (Explanation, error) {
	if !client.IsValid() {
		return Explanation{}, fmt.Errorf("not an address")
	}
	id, scope := t.Locate(client)
	e := Explanation{Client: client.WithZone(""), Match: ByDefault, Scope: scope, Region: t.Name(id)}
	if v4, _, ok := embedded(client); ok {
		e.Client = netip.AddrFrom4([4]byte{byte(v4 >> 24), byte(v4 >> 16), byte(v4 >> 8), byte(v4)})
	}
	var network netip.Prefix
	if t.sources.Database != nil {
		var err error
		if e.Place, network, err = t.sources.Database.lookup(e.Client); err != nil {
			return Explanation{}, err
		}
	}
	if m, ok := t.mapping(e.Client); ok {
		e.Match, e.MatchedCIDR, e.Comment = ByCustomMapping, canonical(m.CIDR), m.Comment
		return e, nil
	}
	b := newBuilder(t.sources)
	if _, ok := b.countries[e.Place.Country]; ok && e.Place.Country != "" {
		e.Match, e.MatchedCIDR = ByCountry, network
	} else if _, ok := b.continents[e.Place.Continent]; ok && e.Place.Continent != "" {
		e.Match, e.MatchedCIDR = ByContinent, network
	}
	return e, nil
}

// Name returns a region's name, empty for NoRegion.
func (t *Table) Name(id RegionID) string {
	if id == NoRegion {
		return ""
	}
	return t.sources.Regions[id-1].Name
}

// mapping returns the mapping with the longest prefix that contains a.
func (t *Table) mapping(a netip.Addr) (Mapping, bool) {
	var best Mapping
	found := false
	for _, m := range t.sources.Mappings {
		if c := canonical(m.CIDR); c.Contains(a) && (!found || c.Bits() > canonical(best.CIDR).Bits()) {
			best, found = m, true
		}
	}
	return best, found
}
