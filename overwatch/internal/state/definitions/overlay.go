package definitions

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"gslb.internal/overwatch/internal/policy"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
	"gslb.internal/shared/check"
)

// The kinds of objects of the configuration over which the API lays values.
const (
	OverDomain = "domain"
	OverRegion = "region"
	OverServer = "server"
)

// MaxOverlays bounds the objects of the configuration over which the API lays values.
const MaxOverlays = 10_000

// Overlay holds values that the API has laid over one object of the configuration. It is stored among the settings.
type Overlay struct {
	// Fields are those of the body of PATCH that differ from the file's.
	Fields    map[string]json.RawMessage `json:"fields"`
	By        string                     `json:"by"`
	UpdatedAt time.Time                  `json:"updated_at"`
}

// OverlayKey returns the name of the setting that holds the overlay of an object. The names of sections have no space.
func OverlayKey(kind, name string) string { return kind + " " + name }

// SplitOverlay splits the name of a setting into kind and name of an object; is reports whether it is an overlay's.
func SplitOverlay(key string) (kind, name string, is bool) { return strings.Cut(key, " ") }

// Overlay returns the overlay of an object, nil for none.
func (s *Set) Overlay(kind, name string) *Overlay {
	value := s.Settings[OverlayKey(kind, name)]
	if value == nil {
		return nil
	}
	o := new(Overlay)
	if json.Unmarshal(value, o) != nil { // CheckOverlay tells of it
		return nil
	}
	return o
}

// OverDomain returns the overlay of a domain of the configuration that is in force, as the body of PATCH.
func (s *Set) OverDomain(c *config.Config, name string) api.DomainChange {
	return inForce[api.DomainChange](s, c, OverlayKey(OverDomain, name))
}

// OverRegion is like OverDomain.
func (s *Set) OverRegion(c *config.Config, name string) api.RegionChange {
	return inForce[api.RegionChange](s, c, OverlayKey(OverRegion, name))
}

func inForce[T any](s *Set, c *config.Config, key string) (fields T) {
	if value := s.Settings[key]; value != nil && c.Laid(key) {
		fields, _ = overlayFields[T](value) // CheckOverlay has read it
	}
	return fields
}

// CountOverlays returns the number of objects with an overlay.
func (s *Set) CountOverlays() (count int) {
	for key := range s.Settings {
		if kind, _, is := SplitOverlay(key); is && kind != OverTarget {
			count++
		}
	}
	return count
}

// CheckOverlay returns an error if the value of a setting cannot be used as an overlay of its object, nil also for the
// setting of a section.
func CheckOverlay(key string, value json.RawMessage) (err error) {
	kind, name, is := SplitOverlay(key)
	if !is || value == nil {
		return nil
	}
	switch kind {
	case OverDomain:
		var d api.DomainChange
		d, err = overlayFields[api.DomainChange](value)
		if p := d.RoutingPolicy; err == nil && p != nil && policy.Named(*p) == nil {
			err = fmt.Errorf("routing_policy is %.64q, which this version of gslb does not know", *p)
		}
	case OverRegion:
		_, err = overlayFields[api.RegionChange](value)
	case OverServer:
		var over ServerOver
		if over, err = overlayFields[ServerOver](value); err == nil && over.HealthCheck != nil {
			_, err = config.ChangeCheck(check.Spec{}, over.HealthCheck, &config.Validation{})
		}
	case OverTarget:
		_, err = targetOf(name, value)
	default:
		err = fmt.Errorf("it is laid over a %.64q, which this version of gslb does not know", kind)
	}
	return err
}

// CheckPeerSetting checks a setting of another node by the rules of an API change. Whether a section goes with the
// configuration file shows only when it is put into force.
func CheckPeerSetting(key string, value json.RawMessage) error {
	if err := CheckOverlay(key, value); err != nil {
		return err
	}
	switch kind, name, is := SplitOverlay(key); {
	case !is:
		return nil
	case kind == OverDomain:
		fields, err := overlayFields[api.DomainChange](value)
		if err != nil {
			return err
		}
		return checkDomainOverlay(name, fields)
	case kind == OverRegion:
		fields, err := overlayFields[api.RegionChange](value)
		if err != nil {
			return err
		}
		return EditRegion(&store.Region{Name: name, Latitude: new(float64), Longitude: new(float64)}, &fields)
	case kind == OverServer:
		fields, err := overlayFields[ServerOver](value)
		if err != nil {
			return err
		}
		return checkServerOverlay(&fields)
	}
	return nil
}

// checkDomainOverlay checks the fields of an overlay over a domain whose values in the file are not known.
func checkDomainOverlay(name string, fields api.DomainChange) error {
	trial := store.Domain{Name: name, RoutingPolicy: config.DefaultRoutingAlgorithm}
	if f := fields.FallbackAlgorithm; f != nil && fields.RoutingPolicy == nil {
		if *f != "" && policy.Named(*f) == nil {
			return fmt.Errorf("fallback_algorithm is %.64q, which this version of gslb does not know", *f)
		}
		fields.FallbackAlgorithm = nil // it goes with the file's policy
	}
	return EditDomain(&trial, &fields)
}

func checkServerOverlay(fields *ServerOver) (err error) {
	if fields.Weight != nil {
		err = CheckWeight(*fields.Weight)
	}
	if fields.Region != nil {
		err = errors.Join(err, checkOptionalRegion(*fields.Region))
	}
	if fields.Agent != nil {
		err = errors.Join(err, CheckAgent(*fields.Agent))
	}
	return err
}

// overlayFields returns the fields of an overlay as the body of PATCH.
func overlayFields[T any](value json.RawMessage) (T, error) {
	var o struct {
		Fields T `json:"fields"`
	}
	if err := json.Unmarshal(value, &o); err != nil {
		return o.Fields, fmt.Errorf("it cannot be read: %w", err)
	}
	return o.Fields, nil
}

// layObjects returns a configuration with overlays over its objects. Overlays of objects that it does not have are not
// used.
func (s *Set) layObjects(c *config.Config) (*config.Config, error) {
	domains, regions := map[string]api.DomainChange{}, map[string]api.RegionChange{}
	laidOver := config.Overlays{Names: map[string]bool{}, Servers: map[string]config.ServerOverlay{}}
	for key, value := range s.Settings {
		kind, name, is := SplitOverlay(key)
		if !is {
			continue
		}
		if err := CheckOverlay(key, value); err != nil {
			return nil, fmt.Errorf("what is laid over %s: %w", key, err)
		}
		if kind == OverTarget { // joined as a server
			continue
		}
		laidOver.Names[key] = true
		switch kind { // CheckOverlay has read it
		case OverDomain:
			domains[name], _ = overlayFields[api.DomainChange](value)
		case OverRegion:
			regions[name], _ = overlayFields[api.RegionChange](value)
		case OverServer:
			p, _ := overlayFields[ServerOver](value)
			laidOver.Servers[name] = config.ServerOverlay{Weight: p.Weight, Region: p.Region, Agent: p.Agent,
				Check: p.HealthCheck}
		}
	}
	if len(laidOver.Names) == 0 {
		return c, nil
	}
	known := s.regionNames(c)
	disabled := map[string]bool{}
	for name, o := range regions {
		if o.Enabled != nil && !*o.Enabled {
			disabled[name] = true
			delete(known, name)
		}
	}
	for name, o := range laidOver.Servers {
		if o.Region != nil && !known[*o.Region] {
			o.Region = nil
			laidOver.Servers[name] = o
		}
	}
	list := c.Domains
	if len(domains)+len(disabled) > 0 {
		list, laidOver.Disabled = layDomains(c.Domains, domains, known, disabled)
	}
	over := c.WithOverlays(list, laidOver)
	if len(regions) > 0 {
		over.Regions = slices.Clone(c.Regions)
		layRegions(over.Regions, regions)
	}
	return over, nil
}

// regionNames returns the names of a file's regions and of the enabled ones of the API.
func (s *Set) regionNames(file *config.Config) map[string]bool {
	known := make(map[string]bool, len(file.Regions)+len(s.Regions))
	for i := range file.Regions {
		known[file.Regions[i].Name] = true
	}
	for name, r := range s.Regions {
		if r.Enabled {
			known[name] = true
		}
	}
	return known
}

// layDomains returns the domains of a file with overlays, without the regions in off. Domains that an overlay disables
// come in a list of their own.
func layDomains(file []config.Domain, over map[string]api.DomainChange, known, off map[string]bool) (list,
	disabled []config.Domain) {
	isOff := func(region string) bool { return off[region] }
	list = make([]config.Domain, 0, len(file))
	for _, d := range file {
		if slices.ContainsFunc(d.Regions, isOff) {
			d.Regions = slices.DeleteFunc(slices.Clone(d.Regions), isOff)
		}
		o, is := over[d.Name]
		if is {
			layDomain(&d, &o, known)
		}
		if is && o.Enabled != nil && !*o.Enabled {
			disabled = append(disabled, d)
			continue
		}
		list = append(list, d)
	}
	return list, disabled
}

// layDomain lays an overlay over a domain. Like for domains of the API, it leaves out regions that do not exist.
func layDomain(d *config.Domain, o *api.DomainChange, known map[string]bool) {
	put(&d.TTL, o.TTL)
	put(&d.RoutingAlgorithm, o.RoutingPolicy)
	put(&d.FallbackAlgorithm, o.FallbackAlgorithm)
	put(&d.MinHealthy, o.MinHealthy)
	put(&d.Proximity.ToleranceKm, o.ProximityToleranceKm)
	put(&d.ClientHash.IPv4Prefix, o.ClientHashIPv4Prefix)
	put(&d.ClientHash.IPv6Prefix, o.ClientHashIPv6Prefix)
	*d = LayRecords(*d, o)
	if o.DNSSECEnabled != nil {
		d.DNSSECEnabled = o.DNSSECEnabled
	}
	if o.Regions != nil {
		d.Regions = slices.DeleteFunc(slices.Clone(*o.Regions), func(region string) bool { return !known[region] })
	}
}

// LayRecords returns a domain with the fields of a change that concern the records of its answers.
func LayRecords(d config.Domain, o *api.DomainChange) config.Domain {
	put(&d.SRV, o.SRV)
	put(&d.Answer, o.Answer)
	put(&d.HTTPS, (*config.HTTPS)(o.HTTPS))
	return d
}

func layRegions(list []config.Region, over map[string]api.RegionChange) {
	for i := range list {
		r := &list[i]
		o, is := over[r.Name]
		if !is {
			continue
		}
		put(&r.Countries, o.Countries)
		put(&r.Priority, o.Priority)
		put(&r.RoutingAlgorithm, o.RoutingAlgorithm)
		put(&r.ProximityBias, o.ProximityBias)
		if o.Enabled != nil && !*o.Enabled {
			r.Disable()
		}
		if o.Latitude != nil {
			r.Latitude = o.Latitude
		}
		if o.Longitude != nil {
			r.Longitude = o.Longitude
		}
		if o.Continent != nil {
			r.Continents = slices.DeleteFunc([]string{*o.Continent}, func(code string) bool { return code == "" })
		}
	}
}

func put[T any](to, value *T) {
	if value != nil {
		*to = *value
	}
}

// DomainFields returns the file's values of a domain, as the body of PATCH.
func DomainFields(d *config.Domain) api.DomainChange {
	regions, services := append([]string{}, d.Regions...), append([]string{}, d.SRV...)
	https := api.DomainHTTPS(d.HTTPS)
	https.ALPN = append([]string{}, https.ALPN...)
	f := api.DomainChange{RoutingPolicy: &d.RoutingAlgorithm, FallbackAlgorithm: &d.FallbackAlgorithm,
		MinHealthy: &d.MinHealthy, ProximityToleranceKm: &d.Proximity.ToleranceKm,
		ClientHashIPv4Prefix: &d.ClientHash.IPv4Prefix, ClientHashIPv6Prefix: &d.ClientHash.IPv6Prefix,
		HTTPS: &https, SRV: &services, Answer: &d.Answer,
		DNSSECEnabled: d.DNSSECEnabled, Enabled: new(true), Description: new(""), Regions: &regions, Tags: &[]string{}}
	if d.TTL > 0 {
		f.TTL = &d.TTL
	}
	return f
}

// RegionFields returns the file's values of a region, as the body of PATCH.
func RegionFields(r *config.Region) api.RegionChange {
	countries := append([]string{}, r.Countries...)
	return api.RegionChange{Name: &r.Name, Code: new(""), Description: new(""), Latitude: r.Latitude,
		Longitude: r.Longitude, Continent: new(strings.Join(r.Continents, ",")), Countries: &countries, Enabled: new(true),
		Priority: &r.Priority, RoutingAlgorithm: &r.RoutingAlgorithm, ProximityBias: &r.ProximityBias}
}

// ServerOver holds the values that can be laid over a server: the fields of its PATCH and of that of its health check.
type ServerOver struct {
	api.ServerPatch
	HealthCheck *api.HealthCheckChange `json:"health_check,omitempty"`
}

// ServerFields returns the file's values of a server.
func ServerFields(s config.StaticServer) ServerOver {
	return ServerOver{ServerPatch: api.ServerPatch{Weight: &s.Weight, Region: &s.Region, Agent: &s.Agent}}
}
