package httpapi

import (
	"net/http"
	"slices"
	"strings"

	"gslb.internal/overwatch/internal/control/impact"
	"gslb.internal/overwatch/internal/control/objects"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
	"gslb.internal/shared/settings"
	"gslb.internal/shared/wire"
)

// postRegion answers POST /regions.
func (s *Server) postRegion(c *call, req api.RegionChange) (answer, error) {
	id, err := regionID(valueOr(req.Name, ""), valueOr(req.Code, ""))
	if err != nil {
		return answer{}, err
	}
	id = s.regionNames().Of(id)
	now := stamp(s.o.Now())
	made := store.Region{Name: id, Enabled: true, CreatedAt: now, UpdatedAt: now}
	if err := editRegion(&made, req); err != nil {
		return answer{}, err
	}
	return s.defineRegion(c, http.StatusCreated, &change{action: "create", resource: "region", id: id},
		func(d *definitions.Draft, _ *change) (*store.Region, error) {
			switch {
			case d.Now().Regions[id] != nil || regionAt(d.File(), id) >= 0:
				return nil, badRequest("region %s exists already", id)
			case len(d.Now().Regions) >= definitions.MaxRegions:
				return nil, problemf(http.StatusInsufficientStorage, "the API has created %d regions, which is the most",
					definitions.MaxRegions)
			}
			return &made, nil
		})
}

// regionID returns the id of a new region, by which servers and domains name it. That is the name if it can be an id
// and is in lower case or comes without a code; else the code; else an id made of the name.
func regionID(name, code string) (string, error) {
	if err := objects.CheckText("name", name, api.MaxRegionName); err != nil {
		return "", err
	}
	plain := settings.LabelRemedy(name, wire.MaxRegion) == ""
	switch {
	case plain && (code == "" || name == strings.ToLower(name)):
		return name, nil
	case code != "":
		if remedy := settings.LabelRemedy(code, wire.MaxRegion); remedy != "" {
			return "", badRequest("code is %.64q: it becomes the id of the region %.100q: %s", code, name, remedy)
		}
		return code, nil
	}
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool {
		return settings.LabelRemedy(string(r), wire.MaxRegion) != ""
	})
	id := strings.Join(words, "-")
	if len(id) == 0 || len(id) > wire.MaxRegion {
		return "", badRequest("name is %.100q, which gives no id of 1 to %d letters, digits and hyphens: give a code, such "+
			"as ap-1", name, wire.MaxRegion)
	}
	return id, nil
}

// putRegion answers PUT and PATCH /regions/{id}. A field that the body does not have takes its default with PUT, and
// stays with PATCH.
func (s *Server) putRegion(c *call, req api.RegionChange) (answer, error) {
	name := s.regionNames().Of(c.Param("id"))
	if !valueOr(req.Enabled, true) {
		done, err := s.safely(c, impact.OfRegion(name))
		defer done()
		if err != nil {
			return answer{}, err
		}
	}
	return s.defineRegion(c, http.StatusOK, &change{action: "update", resource: "region", id: name},
		func(d *definitions.Draft, ch *change) (*store.Region, error) {
			if at := regionAt(d.Bare(), name); at >= 0 {
				return nil, layRegion(s, c, d, ch, &d.Bare().Regions[at], req)
			}
			before, err := ownRegion(d, name, "changed", c.condition)
			if err != nil {
				return nil, err
			}
			after := *before
			if c.Request.Method == http.MethodPut {
				after = store.Region{Name: name, Enabled: true, Owner: before.Owner, CreatedAt: before.CreatedAt}
			}
			after.UpdatedAt = stamp(s.o.Now())
			ch.before = before
			return &after, editRegion(&after, req)
		})
}

// layRegion lays the values of a request over a region of the configuration. With PUT, fields that the body leaves out
// get the file's values again.
func layRegion(s *Server, c *call, d *definitions.Draft, ch *change, file *config.Region, req api.RegionChange) error {
	now, _ := findRegion(d.Now(), d.File(), file.Name)
	if err := c.condition.holds(now); err != nil {
		return err
	}
	return layOver(s, c, d, ch, overlayRequest[api.RegionChange]{
		kind: definitions.OverRegion, name: file.Name, configured: definitions.RegionFields(file), change: req,
		anew: c.Request.Method == http.MethodPut,
		check: func(all api.RegionChange) error {
			return editRegion(&store.Region{Name: file.Name, Latitude: file.Latitude, Longitude: file.Longitude}, all)
		}})
}

// defineRegion commits a change of a region, and answers with the region. edit returns the region to store, or nil if
// it has made the change itself, as an overlay of the configuration.
func (s *Server) defineRegion(c *call, status int, ch *change,
	edit func(*definitions.Draft, *change) (*store.Region, error)) (answer, error) {
	var after *store.Region
	err := s.define(c, ch, func(d *definitions.Draft) (err error) {
		if after, err = edit(d, ch); err != nil || after == nil {
			return err
		}
		ch.after = after
		d.PutRegion(after)
		return nil
	})
	switch {
	case err != nil:
		return answer{}, err
	case after == nil:
		return s.getRegion(c)
	}
	set, file := s.o.Definitions.Defined()
	return tagged(c, status, regionView(*after, set, file, s.countServers()), *after), nil
}

// deleteRegion answers DELETE /regions/{id}. A region that is in use stays.
func (s *Server) deleteRegion(c *call) (answer, error) {
	s.regions.Lock() // no server comes into it meanwhile
	defer s.regions.Unlock()
	name := s.regionNames().Of(c.Param("id"))
	ch := &change{action: "delete", resource: "region", id: name}
	return noContent(), s.define(c, ch, func(d *definitions.Draft) error {
		before, err := ownRegion(d, name, "deleted", c.condition)
		if err == nil {
			err = s.unused(d, name)
		}
		if err != nil {
			return err
		}
		ch.before = before
		d.DeleteRegion(name)
		return nil
	})
}

// ownRegion returns a region that the API has created, if it fulfils the condition. done completes the sentence of the
// error, such as "deleted".
func ownRegion(d *definitions.Draft, name, done string, cond condition) (*store.Region, error) {
	switch r := d.Now().Regions[name]; {
	case regionAt(d.File(), name) >= 0:
		return nil, badRequest("region %.64q comes from the configuration: only regions of the API can be %s here", name,
			done)
	case r == nil:
		return nil, unknownRegion(d.Now(), name)
	default:
		return r, cond.holds(*r)
	}
}

// unused refuses the deletion of a region that a server, a domain or a mapping names.
func (s *Server) unused(d *definitions.Draft, name string) error {
	if n := s.countServers()[name].all; n > 0 {
		return problemf(http.StatusConflict, "region %s has %d servers: delete them or move them to another region first",
			name, n)
	}
	for _, t := range d.Now().Targets() {
		if t.Region == name { // also where it has no address
			return problemf(http.StatusConflict, "server %s is in the region %s: delete it or move it first", t.ID, name)
		}
	}
	for _, domain := range d.Now().Domains {
		if slices.Contains(domain.Regions, name) {
			return problemf(http.StatusConflict, "domain %s names the region %s: change its regions first", domain.Name, name)
		}
	}
	for domain := range d.File().AllDomains { // where the API has laid it over the file's regions
		if slices.Contains(domain.Regions, name) {
			return problemf(http.StatusConflict, "the regions laid over domain %s name the region %s: change them first",
				domain.Name, name)
		}
	}
	for network, m := range d.Now().Mappings {
		if m.Region == name {
			return problemf(http.StatusConflict, "the mapping of %s names the region %s: change or delete it first", network,
				name)
		}
	}
	return nil
}

// editRegion sets the fields of a request in r and checks the result.
func editRegion(r *store.Region, req api.RegionChange) error {
	return asBadRequest(definitions.EditRegion(r, &req))
}
