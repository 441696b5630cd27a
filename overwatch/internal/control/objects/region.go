package objects

import (
	"cmp"
	"slices"
	"strings"

	"gslb.internal/overwatch/internal/control/fault"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
	"gslb.internal/shared/settings"
	"gslb.internal/shared/wire"
)

// RegionID returns the id of a new region, which servers and domains use as a reference. The id is the name if the name
// is a valid id, and is in lower case or the code is missing. Otherwise the id is the code, or an id derived from the
// name.
func RegionID(name, code string) (string, error) {
	if err := CheckText("name", name, model.MaxRegionName); err != nil {
		return "", err
	}
	plain := settings.LabelRemedy(name, wire.MaxRegion) == ""
	switch {
	case plain && (code == "" || name == strings.ToLower(name)):
		return name, nil
	case code != "":
		if remedy := settings.LabelRemedy(code, wire.MaxRegion); remedy != "" {
			return "", fault.Invalidf("code is %.64q: it becomes the id of the region %.100q: %s", code, name, remedy)
		}
		return code, nil
	}
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool {
		return settings.LabelRemedy(string(r), wire.MaxRegion) != ""
	})
	id := strings.Join(words, "-")
	if len(id) == 0 || len(id) > wire.MaxRegion {
		return "",
			fault.Invalidf("name is %.100q, which gives no id of 1 to %d letters, digits and hyphens: give a code, "+
				"such as ap-1", name, wire.MaxRegion)
	}
	return id, nil
}

// NewRegion returns the region of a request, with the defaults of the fields that the request omits. names are the ids
// of the known regions, which a request may write in any case.
func NewRegion(req api.RegionChange, names config.RegionNames, source string) (made *model.Region, err error) {
	made = model.New[model.Region]()
	if err := definitions.ApplyPatch(made, req, source); err != nil {
		return nil, fault.FromCheck(err)
	}
	if made.Name == "" {
		if made.Name, err = RegionID(made.Label, made.Code); err != nil {
			return nil, err
		}
	} else if remedy := settings.LabelRemedy(made.Name, wire.MaxRegion); remedy != "" {
		return nil, fault.Invalidf("id is %.64q: %s", made.Name, remedy)
	}
	made.Name = names.Of(made.Name)
	return made, fault.FromCheck(definitions.CompleteRegion(made))
}

// CompleteRegionCheck validates the health check of a region after a change, and completes it. A redacted secret of the
// request takes the value of the first of others that has the secret. A missing time takes the value of the node.
func (e *Editor) CompleteRegionCheck(r *model.Region, others ...*model.HealthCheck) error {
	whole, err := r.HealthCheck.Restore(others...)
	if err != nil {
		return fault.Invalidf("health_check: %v", err)
	}
	if whole == nil {
		return nil
	}
	completed := *whole
	config.CompleteTimes(&completed, &e.Config().Overwatch.Validation)
	r.HealthCheck = &completed
	return fault.FromCheck(definitions.CheckSharedCheck(&completed))
}

// CheckUnusedRegion rejects the deletion of a region that a server, a domain or a mapping names.
func (e *Editor) CheckUnusedRegion(d *definitions.Draft, name string) error {
	if n := e.CountServers()[name].All; n > 0 {
		return fault.Conflictf("region %s has %d servers: delete them or move them to another region first",
			name, n)
	}
	for _, t := range d.Now().Targets() {
		if t.Region == name { // even if it has no address
			return fault.Conflictf("server %s is in the region %s: delete it or move it first", t.ID(), name)
		}
	}
	for _, domain := range d.Now().Domains {
		if slices.Contains(domain.Regions, name) {
			return fault.Conflictf("domain %s names the region %s: change its regions first", domain.Name, name)
		}
	}
	for domain := range d.File().AllDomains { // regions of overlays
		if slices.Contains(domain.Regions, name) {
			return fault.Conflictf("the overlay of domain %s names the region %s: change it first",
				domain.Name, name)
		}
	}
	for network, m := range d.Now().Mappings {
		if m.Region == name {
			return fault.Conflictf("the mapping of %s names the region %s: change or delete it first", network,
				name)
		}
	}
	return nil
}

// OwnRegion returns a region that the API has created, if it fulfils the condition. done completes the sentence of the
// error, such as "deleted".
func OwnRegion(d *definitions.Draft, name, done string, cond Condition) (*model.Region, error) {
	switch r := d.Now().Regions[name]; {
	case RegionAt(d.File(), name) >= 0:
		return nil, fault.Invalidf("region %.64q comes from the configuration: only regions of the API can be %s here",
			name,
			done)
	case r == nil:
		return nil, UnknownRegion(d.Now(), name)
	default:
		return r, cond.Holds(*r)
	}
}

// RegionAt returns the index of a region of a configuration, -1 if it has none of the name.
func RegionAt(file *config.Config, name string) int {
	return slices.IndexFunc(file.Regions, func(r config.Region) bool { return r.Name == name })
}

// FindRegion returns a region of the API or of the configuration.
func FindRegion(set *definitions.Set, file *config.Config, name string) (model.Region, bool) {
	if r := set.Regions[name]; r != nil {
		return *r, true
	}
	at := RegionAt(file, name)
	if at < 0 {
		return model.Region{}, false
	}
	return file.Regions[at], true
}

// regionFields returns the file's values of a region, as the body of PATCH.
func regionFields(r *model.Region) api.RegionChange {
	fields := model.All(r)
	fields["name"] = cmp.Or(r.Label, r.Name)
	fields["countries"] = append([]string{}, r.Countries...)
	fields["continents"] = append([]string{}, r.Continents...)
	if fields[healthCheckField] = nil; r.HealthCheck != nil {
		fields[healthCheckField] = model.Written(r.HealthCheck.Shown())
	}
	return fields
}

// UnknownRegion returns the error for an id that no region has. If it is the name or code of a region, the error names
// the region's id.
func UnknownRegion(set *definitions.Set, id string) error {
	for _, r := range set.Regions {
		if id == r.Label || id == r.Code {
			return fault.NotFoundf("no region has the id %.100q: did you mean %s?", id, r.Name)
		}
	}
	return fault.NotFoundf("no region %.100q is known", id)
}

// AllRegions returns the regions of the configuration in its order, then the regions of the API by id.
func AllRegions(set *definitions.Set, file *config.Config) []model.Region {
	own := len(file.Regions)
	list := append(make([]model.Region, 0, own+len(set.Regions)), file.Regions...)
	for _, r := range set.Regions {
		list = append(list, *r)
	}
	slices.SortFunc(list[own:], func(a, b model.Region) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// ServerCount counts the servers of a region.
type ServerCount struct{ All, Healthy, Serving int }

// CountServers counts the servers of each region.
func (e *Editor) CountServers() map[string]ServerCount {
	counts := map[string]ServerCount{}
	for b := range e.View.Backends() {
		n := counts[b.Region]
		n.All++
		if b.IsHealthy() {
			n.Healthy++
		}
		if b.MayServe {
			n.Serving++
		}
		counts[b.Region] = n
	}
	return counts
}
