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

// client returns the location of a client for a name (docs/routing.md, "geolocation"). The candidates for its region
// are the region of a mapping, of the file or the API; the regions with its country; the regions with its continent;
// the default region. The client is in the first candidate in the regions of the name, otherwise in the first
// candidate. Its position is the position in the database (docs/routing.md, "proximity"), or the position of the first
// candidate if a mapping determined the region or the database has no position.
func (m *reference) client(number int, name string) refClient {
	var list []string
	mapped, is := m.file.mappings[number]
	if !is {
		if mapped, is = m.mappings[number]; is && m.region(mapped) == nil {
			is = false
		}
	}
	if is {
		list = append(list, mapped)
	}
	says := m.database[number]
	for _, r := range m.regions {
		if slices.Contains(r.countries, says.country) {
			list = append(list, r.name)
		}
	}
	for _, r := range m.regions {
		if r.continent != "" && r.continent == says.continent {
			list = append(list, r.name)
		}
	}
	if m.file.defaultRegion != "" {
		list = append(list, m.file.defaultRegion)
	}
	if len(list) == 0 {
		list = []string{""}
	}
	c := m.at(list[0])
	if says.at != nil && !is {
		c.at = says.at
	}
	own := slices.Clone(m.served[name].regions)
	for _, candidate := range m.candidates(name) {
		own = append(own, candidate.region)
	}
	for _, region := range list {
		if region != "" && slices.Contains(own, region) {
			c.region = region
			break
		}
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

// measurable reports whether the distance from the client to any candidate is known.
func (m *reference) measurable(in []refCandidate, client refClient) bool {
	return client.at != nil && slices.ContainsFunc(in, func(c refCandidate) bool {
		r := m.region(c.region)
		return r != nil && r.at != nil
	})
}

// near returns the nearest region with candidates, followed by regions within the domain's tolerance. A positive bias b
// reduces the distance of a region by b percent. A bias of -b is the inverse of a bias of b.
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
