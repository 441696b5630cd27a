package objects

import (
	"net/netip"

	"gslb.internal/overwatch/internal/control/fault"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
)

// OwnMapping returns a mapping of the API if it satisfies the condition, or nil if there is none. done completes the
// sentence of the error, such as "deleted".
func OwnMapping(d *definitions.Draft, network netip.Prefix, done string, cond Condition) (*model.Mapping, error) {
	if d.InFile(model.KindMapping, network.String()) {
		return nil,
			fault.Invalidf("the mapping of %s comes from the configuration: only mappings of the API can be %s here",
				network, done)
	}
	m := d.Now().Mappings[network.String()]
	if m == nil {
		return nil, cond.Holds(nil)
	}
	return m, cond.Holds(*m)
}

// NewMapping returns the mapping of a request. Omitted fields have their defaults. names are the ids of the known
// regions; a request may use another case.
func NewMapping(req api.GeoMappingChange, names config.RegionNames, source string) (*model.Mapping, error) {
	made := model.New[model.Mapping]()
	if err := EditMapping(made, req, names, source); err != nil {
		return nil, err
	}
	network, err := ParseNetwork(req.Text("cidr"))
	made.CIDR = network
	return made, err
}

// EditMapping applies a request to a mapping and validates the result, except for its network.
func EditMapping(m *model.Mapping, req api.GeoMappingChange, names config.RegionNames, source string) error {
	if err := definitions.ApplyPatch(m, req, source); err != nil {
		return fault.FromCheck(err)
	}
	m.Region = names.Of(m.Region)
	if m.Comment == "" {
		return nil
	}
	return CheckText("comment", m.Comment, model.MaxComment)
}
