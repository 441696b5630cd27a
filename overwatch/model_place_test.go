package overwatch // inside: it shares model_test.go

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
)

// refPlace is a point on the earth, in degrees.
type refPlace struct{ latitude, longitude float64 }

// placeFacts is the database's entry for a client.
type placeFacts struct {
	country, continent string
	at                 *refPlace
}

// refClient is the region and the position of a client.
type refClient struct {
	region string // empty: in none
	at     *refPlace
}

func (m *reference) region(name string) *regionFacts {
	return first(m.regions, func(r regionFacts) bool { return r.name == name })
}

// client returns the place of a client (docs/routing.md, "geolocation"). Its region is that of a mapping, of the file
// or the API; else the first region that has its country, else its continent; else the default region. Its position is
// the database's (docs/routing.md, "proximity"), or its region's where a mapping placed it or the database has none.
func (m *reference) client(number int) refClient {
	name, mapped := m.file.mappings[number]
	if !mapped {
		if name, mapped = m.mappings[number]; mapped && m.region(name) == nil {
			mapped = false
		}
	}
	if mapped {
		return m.at(name)
	}
	says := m.database[number]
	c := m.at(m.file.defaultRegion)
	if r := first(m.regions, func(r regionFacts) bool { return slices.Contains(r.countries, says.country) }); r != nil {
		c = m.at(r.name)
	} else if r := first(m.regions, func(r regionFacts) bool {
		return r.continent != "" &&
			r.continent == says.continent
	}); r != nil {
		c = m.at(r.name)
	}
	if says.at != nil {
		c.at = says.at
	}
	return c
}

// at returns a client in a region, at the position of the region.
func (m *reference) at(region string) refClient {
	c := refClient{region: region}
	if r := m.region(region); r != nil {
		c.at = r.at
	}
	return c
}

func first(list []regionFacts, is func(regionFacts) bool) *regionFacts {
	if i := slices.IndexFunc(list, is); i >= 0 {
		return &list[i]
	}
	return nil
}

// measurable reports whether there is a distance from the client to any candidate.
func (m *reference) measurable(in []refCandidate, client refClient) bool {
	return client.at != nil && slices.ContainsFunc(in, func(c refCandidate) bool {
		r := m.region(c.region)
		return r != nil && r.at != nil
	})
}

// near returns the nearest region of those with candidates, and behind it those that are farther away by no more than
// the domain's tolerance. A bias of b takes b percent off a region's distance; one of -b adds what a bias of b would
// take off again.
func (m *reference) near(d domainFacts, in []refCandidate, client refClient) []string {
	far := map[string]float64{}
	for _, c := range in {
		r := m.region(c.region)
		if r == nil || r.at == nil {
			continue
		}
		far[c.region] = 6371 * angle(client.at, r.at) * (1 - float64(max(r.bias, 0))/100) / (1 + float64(min(r.bias, 0))/100)
	}
	order := slices.SortedFunc(maps.Keys(far), func(a,
		b string) int {
		return cmp.Or(cmp.Compare(far[a], far[b]), strings.Compare(a, b))
	})
	return slices.DeleteFunc(order, func(r string) bool { return far[r] > far[order[0]]+d.tolerance })
}

// angle returns the angle between two places, seen from the centre of the earth, in radians (spherical law of cosines).
func angle(a, b *refPlace) float64 {
	const radian = math.Pi / 180
	return math.Acos(min(math.Sin(a.latitude*radian)*math.Sin(b.latitude*radian)+
		math.Cos(a.latitude*radian)*math.Cos(b.latitude*radian)*math.Cos((a.longitude-b.longitude)*radian), 1))
}
