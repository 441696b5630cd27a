package definitions

import (
	"errors"
	"fmt"
	"math"
	"net/netip"
	"slices"
	"strings"

	"gslb.internal/overwatch/internal/policy"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
	"gslb.internal/shared/settings"
	"gslb.internal/shared/wire"
)

// EditRegion sets the fields of a change in a region and checks the result. After an error, r must not be used.
func EditRegion(r *store.Region, change *api.RegionChange) error {
	if change.Name != nil {
		if err := CheckText("name", *change.Name, api.MaxRegionName); err != nil {
			return err
		}
		if r.Label = *change.Name; r.Label == r.Name {
			r.Label = ""
		}
	}
	put(&r.Code, change.Code)
	put(&r.Description, change.Description)
	put(&r.Enabled, change.Enabled)
	put(&r.Priority, change.Priority)
	put(&r.Continent, change.Continent)
	put(&r.Countries, change.Countries)
	r.Countries = append([]string{}, r.Countries...)
	put(&r.Pool, change.RoutingAlgorithm)
	put(&r.Bias, change.ProximityBias)
	if change.Latitude != nil {
		r.Latitude = change.Latitude
	}
	if change.Longitude != nil {
		r.Longitude = change.Longitude
	}
	return checkRegionFields(r)
}

// CheckRegion returns the first fault of a region of the API that depends neither on other definitions nor on the
// configuration file.
func CheckRegion(r *store.Region) error {
	return errors.Join(checkRegionID("id", r.Name), checkRegionFields(r), CheckOwner(r.Owner))
}

func checkRegionFields(r *store.Region) error {
	for _, text := range []struct {
		field, value string
		limit        int
	}{
		{"name", r.Label, api.MaxRegionName}, {"code", r.Code, api.MaxComment},
		{"description", r.Description, api.MaxComment},
	} {
		if err := checkOptionalText(text.field, text.value, text.limit); err != nil {
			return err
		}
	}
	if r.Priority < 0 || r.Priority > api.MaxRegionPriority {
		return fmt.Errorf("priority is %d: it must be from 0 to %d", r.Priority, api.MaxRegionPriority)
	}
	if r.Continent != "" && !model.IsContinent(r.Continent) {
		return fmt.Errorf("continent is %.64q: it must be one of %s", r.Continent,
			strings.Join(model.ContinentCodes(), ", "))
	}
	seen := make(map[string]bool)
	for _, code := range r.Countries {
		if !model.IsCountry(code) || seen[code] {
			return fmt.Errorf(
				"countries has %.64q: it must have each country once, by the two letters of ISO 3166-1 in capitals, such as DE",
				code)
		}
		seen[code] = true
	}
	if pools := policy.Names(policy.PoolAlgorithms()); r.Pool != "" && !slices.Contains(pools, r.Pool) {
		return fmt.Errorf("routing_algorithm is %.64q: inside a region it must be one of %s, or empty", r.Pool, listed(pools))
	}
	if r.Bias < -policy.MaxBias || r.Bias > policy.MaxBias {
		return fmt.Errorf("proximity_bias is %d: it must be from %d to %d", r.Bias, -policy.MaxBias, policy.MaxBias)
	}
	return checkPlace(r)
}

// checkPlace checks the coordinates of a region.
func checkPlace(r *store.Region) error {
	switch {
	case (r.Latitude == nil) != (r.Longitude == nil):
		return errors.New("only one of latitude and longitude is given: give both or none")
	case r.Latitude != nil && math.Abs(*r.Latitude) > 90:
		return fmt.Errorf("latitude is %g: it must be from -90 to 90 degrees", *r.Latitude)
	case r.Longitude != nil && math.Abs(*r.Longitude) > 180:
		return fmt.Errorf("longitude is %g: it must be from -180 to 180 degrees", *r.Longitude)
	}
	return nil
}

// checkRegionID returns an error for a text that cannot be the id of a region.
func checkRegionID(field, id string) error {
	if remedy := settings.LabelRemedy(id, wire.MaxRegion); remedy != "" {
		return fmt.Errorf("%s is %.64q: %s", field, id, remedy)
	}
	return nil
}

// checkOptionalRegion is checkRegionID for an object that need not have a region.
func checkOptionalRegion(id string) error {
	if id == "" {
		return nil
	}
	return checkRegionID("region", id)
}

// CheckMapping returns the first fault of a mapping of the API that does not depend on other definitions.
func CheckMapping(m *store.Mapping) error {
	network, err := netip.ParsePrefix(m.CIDR)
	if err != nil || model.Network(network).String() != m.CIDR {
		return fmt.Errorf("cidr is %.64q: it must be a network in its canonical form, such as 192.0.2.0/24 or 2001:db8::/32",
			m.CIDR)
	}
	return errors.Join(checkRegionID("region", m.Region), checkOptionalText("comment", m.Comment, api.MaxComment),
		CheckOwner(m.Owner))
}

// CheckNode returns the first fault of an announced agent that does not depend on other definitions.
func CheckNode(n *store.Node) error {
	if remedy := settings.LabelRemedy(n.ID, wire.MaxID); remedy != "" {
		return fmt.Errorf("name is %.130q: %s", n.ID, remedy)
	}
	if address, err := netip.ParseAddr(n.Address); n.Address != "" && (err != nil || address.Zone() != "") {
		return fmt.Errorf("address is %.64q: it must be an IPv4 or IPv6 address", n.Address)
	}
	if n.Port < 0 || n.Port > math.MaxUint16 {
		return fmt.Errorf("port is %d: it must be from 1 to 65535, or be left out", n.Port)
	}
	return errors.Join(checkOptionalRegion(n.Region), checkOptionalText("version", n.Version, api.MaxSource),
		CheckOwner(n.Owner))
}
