package document

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"

	"gslb.internal/overwatch/internal/control/fault"
	"gslb.internal/overwatch/internal/control/objects"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
)

// serverSection returns the section of the servers with an address, which the inventory holds. It also reads the
// servers by host name.
func serverSection() *section {
	return &section{name: sectionServers, kind: "server", list: "servers", plural: "servers", state: "Servers",
		most: maxServers, read: elements((*reader).server),
		held: func(pl *Planner, _ *definitions.Set) map[string]any {
			all := map[string]any{}
			for _, server := range pl.o.Inventory.All() {
				all[server.ID()] = &server
			}
			return all
		},
		check: func(c *checker, id string, object, was any) {
			server := object.(*model.Server)
			err := c.checkServer(server)
			if err == nil && (was == nil || was.(*model.Server).Region != server.Region) &&
				(server.Region != "" || len(c.regions) > 0) {
				err = c.mayName(server.Region)
			}
			c.problems.check("server "+id, err)
		},
		write: writtenServer, owned: ownedByMeta,
		compare: func(a, b any) int { return endpointOf(a.(*model.Server)).Compare(endpointOf(b.(*model.Server))) },
		affects: func(object any) string { return object.(*model.Server).Service },
		encode:  encodeList,
		decode: func(list json.RawMessage) (map[string]any, error) {
			return decodeList(list, func(value []byte) (string, any, error) {
				server, err := model.Decode[model.Server](value)
				if err != nil {
					return "", nil, err
				}
				return server.ID(), server, nil
			})
		}}
}

// targetSection returns the section of the servers by host name, which are definitions.
func targetSection() *section {
	return &section{name: sectionTargets, kind: "server", list: "servers", plural: "servers by host name",
		state: "Targets", most: definitions.MaxTargets,
		held: func(_ *Planner, set *definitions.Set) map[string]any {
			all := map[string]any{}
			for _, t := range set.Targets() {
				all[t.ID()] = t
			}
			return all
		},
		get: func(set *definitions.Set, id string) any {
			known, err := definitions.ParseTargetID(id)
			if err != nil {
				return nil
			}
			if t := set.Target(known); t != nil {
				return t
			}
			return nil
		},
		put: func(d *definitions.Draft, id string, object any) error {
			if object != nil {
				return d.PutTarget(object.(*model.Server))
			}
			known, err := definitions.ParseTargetID(id)
			d.DeleteTarget(known)
			return err
		},
		check: func(c *checker, id string, object, was any) { c.checkTarget("server "+id, object.(*model.Server), was) },
		write: writtenServer, owned: ownedByMeta,
		compare: func(a, b any) int {
			return definitions.TargetIDOf(a.(*model.Server)).Compare(definitions.TargetIDOf(b.(*model.Server)))
		},
		affects: func(object any) string { return object.(*model.Server).Service },
		encode:  encodeTargets, decode: decodeTargets}
}

func (r *reader) server(req api.DocumentServer) (read, error) {
	if region := req.Text("region"); region != "" {
		req["region"] = r.names.Of(region)
	}
	made, err := r.pl.o.Edit.NewServer(req, model.FromDocument)
	if err != nil {
		return read{}, err
	}
	var before *model.Server
	section := sectionServers
	if made.Target != "" {
		section, before = sectionTargets, r.held.Target(definitions.TargetIDOf(made))
	} else if now, known := r.pl.o.Inventory.Get(endpointOf(made)); known {
		before = &now
	}
	return read{section, made.ID(), made}, r.pl.o.Edit.CheckNewServer(made, before, req)
}

// checkTarget checks a server by host name against the domains and regions after the plan.
func (c *checker) checkTarget(place string, t *model.Server, was any) {
	id := definitions.TargetIDOf(t)
	if !c.isDomain(id.Service) {
		c.problems.add(place, errNoDomain(id.Service))
		return
	}
	if was == nil || was.(*model.Server).Region != t.Region {
		c.problems.check(place, c.mayName(t.Region))
	}
	c.problems.check(place, c.pl.o.Edit.CheckNewTarget(c.d, id))
}

// checkServer checks that a server's domain exists and answers with addresses, and that the file does not declare the
// server.
func (c *checker) checkServer(server *model.Server) error {
	if !c.isDomain(server.Service) {
		return errNoDomain(server.Service)
	}
	if c.byName[server.Service] {
		return fault.Invalidf("service is %q, whose answers are names (answer: cname): give a host name as target, "+
			"since an address is never answered", server.Service)
	}
	if b := c.pl.o.View.Get(endpointOf(server)); b != nil && b.Source == api.SourceStatic {
		return objects.ErrOfFile
	}
	return nil
}

func errNoDomain(service string) error {
	return fault.Invalidf("service is %.260q: it must be the name of a domain of the document or of this node", service)
}

// serversIn calls names with the region of each server after the plan.
func (c *checker) serversIn(names func(region, format string, object any)) {
	put, gone := c.p.put.of[sectionTargets], c.p.gone.of[sectionTargets]
	for _, t := range c.d.Now().Targets() {
		id := t.ID()
		if next := put[id]; gone[id] == nil && (next == nil || next.(*model.Server).Region == t.Region) {
			names(t.Region, "server %s is in it, and stays", id)
		}
	}
	put, gone = c.p.put.of[sectionServers], c.p.gone.of[sectionServers]
	for b := range c.pl.o.View.Backends() {
		id := b.ID.String()
		// The addresses of a target are omitted, because the target represents them.
		if next := put[id]; !b.Host().FromAPI && gone[id] == nil &&
			(next == nil || next.(*model.Server).Region == b.Region) {
			names(b.Region, "server %s is in it, and stays", id)
		}
	}
}

// staleServers is stale for servers with an address. The caller has reserved them, so that no other change can change
// them.
func (p *Plan) staleServers(inv Inventory) error {
	for _, touched := range []*Objects{p.put, p.gone} {
		for id, server := range typed[model.Server](touched, sectionServers) {
			now, there := inv.Get(endpointOf(server))
			was := p.held.of[sectionServers][id]
			if there != (was != nil) || there && !reflect.DeepEqual(&now, was) {
				return errStale
			}
		}
	}
	return nil
}

// writtenServer returns a server for a document, without secrets. It omits a health check equal to the health check of
// the region, and resets settings that only the region has.
func writtenServer(pl *Planner, _ string, object any) (any, error) {
	server := object.(*model.Server)
	written := model.Written(server.Shown())
	if server.Target != "" {
		return written, nil
	}
	ofRegion := pl.o.Edit.Config().CheckIn(server.Region)
	if server.HealthCheck == nil || server.HealthCheck.Spec() == ofRegion {
		delete(written, "health_check")
		return written, nil
	}
	own := model.Written(server.HealthCheck.Shown())
	for name := range model.Written(model.HealthCheckOf(ofRegion)) {
		if !own.Has(name) {
			own[name] = nil
		}
	}
	written["health_check"] = own
	return written, nil
}

// storedTarget is a server by host name in a stored state.
type storedTarget struct {
	ID     string
	Server json.RawMessage
}

func encodeTargets(all map[string]any) (any, error) {
	var list []storedTarget
	for _, id := range slices.Sorted(maps.Keys(all)) {
		text, err := model.Encode(all[id])
		if err != nil {
			return nil, err
		}
		list = append(list, storedTarget{id, text})
	}
	return list, nil
}

func decodeTargets(list json.RawMessage) (map[string]any, error) {
	var stored []storedTarget
	if err := json.Unmarshal(list, &stored); err != nil {
		return nil, err
	}
	all := map[string]any{}
	for _, t := range stored {
		server, err := definitions.DecodeTarget(t.ID, t.Server)
		if err != nil {
			return nil, err
		}
		all[t.ID] = server
	}
	return all, nil
}

// endpointOf returns the id of a server with an address.
func endpointOf(s *model.Server) registry.ID {
	return registry.ID{Service: s.Service, Address: s.Address, Port: s.Port}
}
