package objects

import (
	"net/netip"
	"slices"

	"gslb.internal/overwatch/internal/control/fault"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
)

// OwnMapping returns a mapping of the API if it fulfills the condition, nil without a mapping. done completes the
// sentence of the error, such as "deleted".
func OwnMapping(d *definitions.Draft, network netip.Prefix, done string, cond Condition) (*store.Mapping, error) {
	if slices.ContainsFunc(d.File().Overwatch.Geolocation.CustomMappings,
		func(m config.CustomMapping) bool { return model.Network(m.CIDR) == network }) {
		return nil,
			fault.Invalidf("the mapping of %s comes from the configuration: only mappings of the API can be %s here",
				network, done)
	}
	m := d.Now().Mappings[network]
	if m == nil {
		return nil, cond.Holds(nil)
	}
	return m, cond.Holds(*m)
}

// MappingRecord is a mapping in the audit log. An undo also restores its owner.
type MappingRecord struct {
	api.GeoMapping
	Owner string `json:"owner,omitempty"`
}

func MappingRecordOf(m *store.Mapping) MappingRecord { return MappingRecord{MappingView(m), m.Owner} }

// MappingView returns the API view of a mapping of the API.
func MappingView(m *store.Mapping) api.GeoMapping {
	return api.GeoMapping{CIDR: m.CIDR, Region: m.Region, Comment: m.Comment, Source: api.GeoFromAPI}
}
