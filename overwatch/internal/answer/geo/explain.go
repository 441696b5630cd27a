package geo

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
)

// MatchType is the criterion that determined a region. The values are part of the HTTP API.
type MatchType string

// The criteria, by descending priority.
const (
	ByCustomMapping MatchType = "custom_mapping"
	ByCountry       MatchType = "country"
	ByContinent     MatchType = "continent"
	ByDefault       MatchType = "default"
)

// Explanation is the region of a client with the reasons. Scope is the scope of Locate.
type Explanation struct {
	Client      netip.Addr // looked up address; the embedded IPv4 address if there is one
	Region      string     // empty if the client has no region
	Match       MatchType
	MatchedCIDR netip.Prefix // network of the mapping or database record; invalid for ByDefault
	Comment     string       // comment of the mapping
	Record      Record       // database record, even if a mapping determined the region
	Scope       uint8
}

// Explain returns the region of a client among all regions, with the reasons. It may allocate.
func (t *Table) Explain(client netip.Addr) (Explanation, error) {
	return t.explain(client, t.RegionName)
}

// ExplainFor is Explain for a name with fewer regions. clients contains the client regions of the name by RegionID.
func (t *Table) ExplainFor(client netip.Addr, clients []string) (Explanation, error) {
	return t.explain(client, func(id RegionID) string {
		if int(id) >= len(clients) { // clients belongs to another table
			return ""
		}
		return clients[id]
	})
}

// explain implements Explain. regionOf returns the name of a region.
func (t *Table) explain(client netip.Addr, regionOf func(RegionID) string) (Explanation, error) {
	if !client.IsValid() {
		return Explanation{}, fmt.Errorf("not an address")
	}
	id, scope := t.Locate(client)
	e := Explanation{Client: client.WithZone(""), Match: ByDefault, Scope: scope, Region: regionOf(id)}
	if v4, _, ok := embeddedIPv4(client); ok {
		e.Client = ipv4(v4)
	}
	var network netip.Prefix
	if t.sources.Database != nil {
		var err error
		if e.Record, network, err = t.sources.Database.lookup(e.Client); err != nil {
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
	case slices.ContainsFunc(b.countries[e.Record.Country], isRegion):
		e.Match, e.MatchedCIDR = ByCountry, network
	case slices.ContainsFunc(b.continents[e.Record.Continent], isRegion):
		e.Match, e.MatchedCIDR = ByContinent, network
	}
	return e, nil
}

// RegionName returns the first region of a ranking; "" for NoRegion.
func (t *Table) RegionName(id RegionID) string {
	if len(t.rankings[id]) == 0 {
		return ""
	}
	return t.rankings[id][0]
}

// mappings returns the mappings that contain a, the longest prefix first.
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
