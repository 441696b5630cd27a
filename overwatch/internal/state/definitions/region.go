package definitions

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"net/netip"

	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
	"gslb.internal/shared/check"
	"gslb.internal/shared/model"
	"gslb.internal/shared/settings"
	"gslb.internal/shared/wire"
)

// EditRegion applies a change to a region and validates the result. After an error, the caller must not use r.
func EditRegion(r *model.Region, change model.Patch[model.Region], source string) error {
	if err := ApplyPatch(r, change, source); err != nil {
		return err
	}
	return CompleteRegion(r)
}

// CompleteRegion removes a display name that equals the id, and validates the fields of a region, except its id and the
// bounds of numbers.
func CompleteRegion(r *model.Region) error {
	if r.Label == r.Name {
		r.Label = ""
	}
	problems := config.RegionProblems(r)
	if len(problems) == 0 {
		return nil
	}
	p := problems[0]
	switch p.Key {
	case "":
		return fmt.Errorf("region %.64q %s", p.Value, p.Message)
	case "label":
		p.Key = "name" // in JSON
	}
	return fmt.Errorf("%s is %.260q: %s", p.Key, p.Value, p.Message)
}

// CheckRegion returns the first fault of an API region that is independent of other definitions and of the
// configuration file.
func CheckRegion(r *model.Region) error {
	if problems := model.Bounds(r); len(problems) > 0 {
		return fieldError(problems)
	}
	return errors.Join(checkRegionFields(r), CheckSharedCheck(r.HealthCheck))
}

// checkRegionFields returns the first fault of a region, except the bounds of numbers and the health check.
func checkRegionFields(r *model.Region) error {
	checked := *r
	return errors.Join(checkRegionID("id", r.Name), CompleteRegion(&checked), CheckOwner(r.Owner))
}

// CheckSharedCheck returns the first fault of the health check of a region, nil without a check. The times of the node
// replace missing times of the check.
func CheckSharedCheck(h *model.HealthCheck) error {
	if h == nil {
		return nil
	}
	if err := checkSharedAddress(h); err != nil {
		return err
	}
	spec := h.Spec()
	spec.Interval, spec.Timeout = cmp.Or(spec.Interval, check.MaxInterval), cmp.Or(spec.Timeout, check.MinTimeout)
	spec.FailureThreshold = cmp.Or(spec.FailureThreshold, check.DefaultFailureThreshold)
	spec.SuccessThreshold = cmp.Or(spec.SuccessThreshold, check.DefaultSuccessThreshold)
	for _, p := range spec.Validate() {
		p.Field = "health_check." + model.HealthCheckField(p.Field)
		return p
	}
	return nil
}

// checkSharedAddress rejects an address to probe in the health check of a region.
func checkSharedAddress(h *model.HealthCheck) error {
	if h != nil && h.Address.IsValid() {
		return fmt.Errorf("health_check.address is %s: all servers of the region would be probed at this one address: "+
			"give it to the health check of a server", h.Address)
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

// checkOptionalRegion is checkRegionID for an object with an optional region.
func checkOptionalRegion(id string) error {
	if id == "" {
		return nil
	}
	return checkRegionID("region", id)
}

// CheckMapping returns the first fault of an API mapping that is independent of other definitions.
func CheckMapping(m *model.Mapping) error {
	if !m.CIDR.IsValid() || model.Network(m.CIDR) != m.CIDR {
		return fmt.Errorf("cidr is %.64q: it must be a network in its canonical form, such as 192.0.2.0/24 or 2001:db8::/32",
			m.CIDR)
	}
	return errors.Join(checkRegionID("region", m.Region), checkOptionalText("comment", m.Comment, model.MaxComment),
		CheckOwner(m.Owner))
}

// CheckNode returns the first fault of an announced agent that is independent of other definitions.
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
