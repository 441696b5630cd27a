package definitions

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"gslb.internal/overwatch/internal/policy"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/shared/check"
	"gslb.internal/shared/model"
)

// The kinds of configured objects with overlays.
const (
	OverDomain = "domain"
	OverRegion = "region"
	OverServer = "server"
)

// MaxOverlays is the maximum number of configured objects with an overlay.
const MaxOverlays = 10_000

// Overlay contains API values over a configured object. It is stored as a setting.
type Overlay struct {
	// Fields are the fields, as in the body of a PATCH, with values that differ from the file.
	Fields    map[string]json.RawMessage `json:"fields"`
	By        string                     `json:"by"`
	UpdatedAt time.Time                  `json:"updated_at"`
}

// healthCheckField is the field name of the health check in the overlay of a server.
const healthCheckField = "health_check"

// Shown returns the overlay without the secrets of a health check. It redacts a health check that this version cannot
// read.
func (o *Overlay) Shown() *Overlay {
	if value := o.Fields[healthCheckField]; value != nil && json.Unmarshal(value, new(model.HealthCheck)) != nil {
		redacted := *o
		redacted.Fields = maps.Clone(o.Fields)
		redacted.Fields[healthCheckField] = json.RawMessage(`"` + check.Redacted + `"`)
		return &redacted
	}
	shown, _ := o.withCheck(func(h *model.HealthCheck) (*model.HealthCheck, error) { return h.Shown(), nil })
	return shown
}

// Restore returns the overlay with the secrets that Shown has removed, from the overlay before. If before lacks a
// secret, the error names it. before may be nil.
func (o *Overlay) Restore(before *Overlay) (*Overlay, error) {
	known := before.HealthCheck()
	return o.withCheck(func(h *model.HealthCheck) (*model.HealthCheck, error) { return h.Restore(known) })
}

// HealthCheck returns the fields of the health check, or nil. o may be nil.
func (o *Overlay) HealthCheck() (h *model.HealthCheck) {
	if o != nil && o.Fields[healthCheckField] != nil {
		_ = json.Unmarshal(o.Fields[healthCheckField], &h) // CheckOverlay reports an invalid health check
	}
	return h
}

// withCheck returns the overlay with the secrets of the health check that replace returns.
func (o *Overlay) withCheck(replace func(*model.HealthCheck) (*model.HealthCheck, error)) (*Overlay, error) {
	var h model.HealthCheck
	fields := map[string]json.RawMessage{}
	if o.Fields[healthCheckField] == nil || json.Unmarshal(o.Fields[healthCheckField], &h) != nil ||
		json.Unmarshal(o.Fields[healthCheckField], &fields) != nil {
		return o, nil //nolint:nilerr // CheckOverlay reports an invalid health check
	}
	now, err := replace(&h)
	if err != nil || now == &h {
		return o, err
	}
	secrets := map[string]any{"headers": now.Headers, "send": now.Send}
	for name := range secrets {
		if fields[name] == nil {
			continue
		}
		if fields[name], err = json.Marshal(secrets[name]); err != nil {
			return nil, err
		}
	}
	changed := *o
	changed.Fields = maps.Clone(o.Fields)
	changed.Fields[healthCheckField], err = json.Marshal(fields)
	return &changed, err
}

// OverlayKey returns the name of the setting that contains the overlay of an object. It contains a space, unlike the
// names of sections.
func OverlayKey(kind, name string) string { return kind + " " + name }

// SplitOverlay splits the name of a setting into kind and name of an object. is reports whether the setting is an
// overlay.
func SplitOverlay(key string) (kind, name string, is bool) { return strings.Cut(key, " ") }

// Overlay returns the overlay of an object, or nil.
func (s *Set) Overlay(kind, name string) *Overlay {
	value := s.Settings[OverlayKey(kind, name)]
	if value == nil {
		return nil
	}
	o, err := ParseOverlay(kind, value)
	if err != nil { // CheckOverlay reports it
		return nil
	}
	return o
}

// ParseOverlay returns the overlay of an object of a kind. It accepts the field names of version 0.9.0.
func ParseOverlay(kind string, value json.RawMessage) (*Overlay, error) {
	o := new(Overlay)
	if err := json.Unmarshal(value, o); err != nil {
		return nil, err
	}
	if read := overlayKinds[kind].readLegacy; read != nil {
		read(o.Fields)
	}
	return o, nil
}

// PutOverlay stores the overlay of a configured object, and replaces the previous overlay.
func (d *Draft) PutOverlay(key string, o *Overlay) error {
	stored := *o
	stored.Fields = maps.Clone(o.Fields)
	kind, _, _ := SplitOverlay(key)
	if write := overlayKinds[kind].writeLegacy; write != nil {
		write(stored.Fields)
	}
	value, err := json.Marshal(stored)
	if err == nil {
		d.PutSetting(key, value)
	}
	return err
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

// CheckOverlay returns an error if the value of a setting is not a valid overlay of its object. For the setting of a
// section, it returns nil.
func CheckOverlay(key string, value json.RawMessage) error {
	kind, name, is := SplitOverlay(key)
	if !is || value == nil {
		return nil
	}
	known, is := overlayKinds[kind]
	if !is {
		return fmt.Errorf("it is laid over a %.64q, which this version of gslb does not know", kind)
	}
	return known.check(name, value)
}

// CheckPeerSetting validates a setting of another node according to the rules of an API change. Conflicts of a section
// with the configuration file are detected when the section is applied.
func CheckPeerSetting(key string, value json.RawMessage) error {
	if err := CheckOverlay(key, value); err != nil {
		return err
	}
	if kind, name, is := SplitOverlay(key); is {
		return overlayKinds[kind].checkPeer(name, value)
	}
	return nil
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

// layObjects returns a configuration with overlays applied to its objects. It ignores overlays of missing objects.
func (s *Set) layObjects(c *config.Config) (*config.Config, error) {
	l := layers{domains: map[string]model.Patch[model.Domain]{}, regions: map[string]model.Patch[model.Region]{},
		servers: map[string]model.Patch[model.Server]{}}
	names := map[string]bool{}
	for key, value := range s.Settings {
		kind, name, is := SplitOverlay(key)
		if !is {
			continue
		}
		if err := CheckOverlay(key, value); err != nil {
			return nil, fmt.Errorf("what is laid over %s: %w", key, err)
		}
		if add := overlayKinds[kind].add; add != nil {
			names[key] = true
			add(&l, name, value)
		}
	}
	laidOver := config.Overlays{Names: names, Servers: l.servers}
	list := c.Regions
	if len(l.regions) > 0 {
		list = slices.Clone(c.Regions)
		layRegions(list, l.regions, &c.Overwatch.Validation)
	}
	disabled := map[string]bool{}
	for i := range list {
		if !list[i].Enabled {
			disabled[list[i].Name] = true
		}
	}
	if len(laidOver.Names)+len(disabled) == 0 {
		return c, nil
	}
	known, spelled := s.regionNames(list), s.RegionNames(c)
	for _, patch := range laidOver.Servers {
		if !patch.Has("region") {
			continue
		}
		if region := spelled.Of(patch.Text("region")); known[region] {
			patch["region"] = region
		} else {
			delete(patch, "region")
		}
	}
	answered := c.Domains
	laidOver.Disabled = c.Disabled()
	if len(l.domains)+len(disabled) > 0 {
		answered, laidOver.Disabled = layDomains(c, l.domains, known, spelled, disabled)
	}
	over := c.WithOverlays(answered, laidOver)
	over.Regions = list
	return over, nil
}

// regionNames returns the names of the enabled regions of the files and of the API.
func (s *Set) regionNames(ofFiles []config.Region) map[string]bool {
	known := make(map[string]bool, len(ofFiles)+len(s.Regions))
	for i := range ofFiles {
		if ofFiles[i].Enabled {
			known[ofFiles[i].Name] = true
		}
	}
	for name, r := range s.Regions {
		if r.Enabled {
			known[name] = true
		}
	}
	return known
}

// layDomains returns the domains of a file with overlays, without the regions in off. The second result contains the
// disabled domains.
func layDomains(file *config.Config, over map[string]model.Patch[model.Domain], known map[string]bool,
	spelled config.RegionNames, off map[string]bool) (list, disabled []config.Domain) {
	isOff := func(region string) bool { return off[region] }
	list = make([]config.Domain, 0, len(file.Domains)+len(file.Disabled()))
	for _, all := range [][]config.Domain{file.Domains, file.Disabled()} {
		for _, d := range all {
			if slices.ContainsFunc(d.Regions, isOff) {
				d.Regions = slices.DeleteFunc(slices.Clone(d.Regions), isOff)
			}
			if patch, is := over[d.Name]; is {
				if laid, err := layDomain(&d, patch); err == nil { // CheckOverlay reports the error
					d = *laid
				}
				if patch.Has("regions") { // removes missing regions, as for an API domain
					d.Regions = existing(d.Regions, known, spelled)
				}
			}
			if d.Enabled {
				list = append(list, d)
			} else {
				disabled = append(disabled, d)
			}
		}
	}
	return list, disabled
}

// layDomain returns a domain with the fields of an overlay.
func layDomain(d *config.Domain, patch model.Patch[model.Domain]) (*config.Domain, error) {
	laid := *d
	if problems := patch.Lay(&laid); len(problems) > 0 {
		return nil, fieldError(problems)
	}
	if policy.FindAlgorithm(laid.RoutingAlgorithm) == nil {
		return nil, fmt.Errorf("routing_algorithm is %.64q, which this version of gslb does not know",
			laid.RoutingAlgorithm)
	}
	return &laid, nil
}

// layRegions applies overlays to the regions.
func layRegions(list []config.Region, over map[string]model.Patch[model.Region], node *config.Validation) {
	for i := range list {
		if patch, is := over[list[i].Name]; is {
			name := list[i].Name
			_ = patch.Lay(&list[i]) // CheckOverlay reports errors
			list[i].Name = name
			if patch.Has("health_check") && list[i].HealthCheck != nil {
				config.CompleteTimes(list[i].HealthCheck, node)
			}
		}
	}
}
