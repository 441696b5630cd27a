package route53

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"gslb.internal/gslbctl/internal/imports"
)

// place returns the routing algorithm for the policy of a set, and the region of its servers.
func (b *builder) place(s *recordSet) (algorithm, region string, err error) {
	switch {
	case s.Weight != nil:
		algorithm, region = b.weighted(s)
		return algorithm, region, nil
	case s.MultiValueAnswer, s.SetIdentifier == "":
		return "round-robin", "main", nil
	case s.Failover != "":
		return "failover", strings.ToLower(s.Failover), nil
	case s.Region != "":
		if !b.located(s.Region, s.Region, 0) {
			return "", "", fmt.Errorf("where %s is, is not known", s.Region)
		}
		b.result.Differs(s.String(), "the nearest region answers, not the fastest region by measurements of AWS")
		return "proximity", s.Region, nil
	case s.GeoLocation != nil:
		region, err = b.geoLocation(s)
		return "geolocation", region, err
	case s.GeoProximityLocation != nil:
		region, err = b.geoProximity(s)
		return "proximity", region, err
	case s.CidrRoutingConfig != nil:
		return "", "", errors.New("the networks of its CIDR collection are not in the file")
	}
	return "", "", errors.New("how it is chosen is not known")
}

// weighted returns the algorithm and the region of a set with a weight. Sets with weight 0 answer only if all sets with
// other weights are down. If all weights are 0, the sets have equal shares.
func (b *builder) weighted(s *recordSet) (algorithm, region string) {
	zero, others := false, false
	for _, o := range b.zone.byName[s.Name] {
		if o.Weight != nil && (o.hasAddresses() || o.Type == "CNAME") {
			zero, others = zero || *o.Weight == 0, others || *o.Weight > 0
		}
	}
	switch {
	case !zero || !others:
		return "weighted", "main"
	case *s.Weight == 0:
		return "failover", "secondary"
	}
	return "failover", "primary"
}

func (b *builder) geoLocation(s *recordSet) (string, error) {
	g := b.clients()
	switch l := s.GeoLocation; {
	case l.SubdivisionCode != "":
		return "", errors.New("a node distinguishes countries, not their subdivisions")
	case l.CountryCode == "*":
		g.Default = anyPlace
		return anyPlace, nil
	case l.CountryCode != "":
		b.result.Config.Region(l.CountryCode).Countries = []string{l.CountryCode}
		return l.CountryCode, nil
	case l.ContinentCode != "":
		name := "continent-" + l.ContinentCode
		b.result.Config.Region(name).Continents = []string{l.ContinentCode}
		return name, nil
	}
	return "", errors.New("its location is empty")
}

func (b *builder) geoProximity(s *recordSet) (string, error) {
	l := s.GeoProximityLocation
	name := l.AWSRegion
	if l.Bias != 0 {
		name += "-bias" + strconv.Itoa(l.Bias)
	}
	switch {
	case l.Coordinates != nil:
		north, err := strconv.ParseFloat(l.Coordinates.Latitude, 64)
		if err != nil {
			return "", err
		}
		east, err := strconv.ParseFloat(l.Coordinates.Longitude, 64)
		if err != nil {
			return "", err
		}
		name = fmt.Sprintf("at%+g%+g", north, east) + name
		name = strings.ReplaceAll(name, "+", "_")
		region := b.result.Config.Region(name)
		region.Latitude, region.Longitude, region.Bias = &north, &east, l.Bias
	case l.AWSRegion == "" || !b.located(name, l.AWSRegion, l.Bias):
		return "", fmt.Errorf("where %q is, is not known", l.AWSRegion)
	}
	b.clients()
	return name, nil
}

// located adds the region name at the position of an AWS region. It returns false if the position is unknown.
func (b *builder) located(name, aws string, bias int) bool {
	at, known := awsRegions()[aws]
	if known {
		region := b.result.Config.Region(name)
		region.Latitude, region.Longitude, region.Bias = &at[0], &at[1], bias
		b.clients()
	}
	return known
}

// clients returns the geolocation settings of the result. The first call adds them with a note about the missing
// database.
func (b *builder) clients() *imports.Geolocation {
	c := &b.result.Config
	if c.Overwatch == nil {
		c.Overwatch = &imports.Overwatch{Geolocation: imports.Geolocation{ECS: true}}
		b.result.Differs("the places of clients", "AWS' database is not at hand: give one in "+
			"overwatch.geolocation.database_path, with cities where the nearest region is to answer")
	}
	return &c.Overwatch.Geolocation
}

// awsRegions returns the approximate latitude and longitude of each region of AWS, in degrees.
func awsRegions() map[string][2]float64 {
	return map[string][2]float64{
		"us-east-1": {38.9, -77.4}, "us-east-2": {40, -83}, "us-west-1": {37.4, -122}, "us-west-2": {45.8, -119.7},
		"us-gov-east-1": {40, -83}, "us-gov-west-1": {45.8, -119.7}, "mx-central-1": {20.6, -100.4},
		"ca-central-1": {45.5, -73.6}, "ca-west-1": {51, -114.1}, "sa-east-1": {-23.5, -46.6}, "af-south-1": {-33.9,
			18.4},
		"eu-west-1": {53.3, -6.3}, "eu-west-2": {51.5, -0.1}, "eu-west-3": {48.9, 2.4}, "eu-central-1": {50.1, 8.7},
		"eu-central-2": {47.4, 8.5}, "eu-north-1": {59.3, 18.1}, "eu-south-1": {45.5, 9.2}, "eu-south-2": {41.7, -0.9},
		"ap-east-1": {22.3, 114.2}, "ap-south-1": {19.1, 72.9}, "ap-south-2": {17.4, 78.5}, "ap-northeast-1": {35.7,
			139.7},
		"ap-northeast-2": {37.6, 127}, "ap-northeast-3": {34.7, 135.5}, "ap-southeast-1": {1.3, 103.8},
		"ap-southeast-2": {-33.9, 151.2}, "ap-southeast-3": {-6.2, 106.8}, "ap-southeast-4": {-37.8, 145},
		"ap-southeast-5": {3.1, 101.7}, "ap-southeast-7": {13.8, 100.5}, "cn-north-1": {39.9, 116.4},
		"cn-northwest-1": {37.5, 105.2}, "il-central-1": {32.1, 34.8}, "me-central-1": {24.5, 54.4},
		"me-south-1": {26.1, 50.6},
	}
}
