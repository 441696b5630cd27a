package document

import (
	"cmp"
	"encoding/json"
	"errors"

	"gslb.internal/overwatch/internal/control/fault"
	"gslb.internal/overwatch/internal/control/objects"
	"gslb.internal/overwatch/internal/control/strictjson"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
)

const agentKind = store.KindAgent

// elements returns section.read for elements of type T.
func elements[T any](take func(*reader, T) (read, error)) func(*reader) func(json.RawMessage) (read, error) {
	return func(r *reader) func(json.RawMessage) (read, error) {
		fields := strictjson.FieldsOf(new(T))
		return func(element json.RawMessage) (read, error) {
			var request T
			if err := strictjson.DecodeChecked(element, &request, fields); err != nil {
				return read{}, err
			}
			return take(r, request)
		}
	}
}

func checkOwner(owner string) error { return fault.FromCheck(definitions.CheckOwner(owner)) }

func regionSection(k definitions.Declared) *section {
	s := declaredSection(k)
	s.everywhere = true
	s.read = elements(func(r *reader, req api.DocumentRegion) (read, error) {
		made, err := objects.NewRegion(req, r.names, model.FromDocument)
		if made == nil {
			return read{}, err
		}
		if r.found.of[s.name][made.Name] == nil {
			r.names.Add(made.Name)
		}
		var before *model.HealthCheck
		if held := r.held.Regions[made.Name]; held != nil {
			before = held.HealthCheck
		}
		if err == nil {
			err = r.pl.o.Edit.CompleteRegionCheck(made, before)
		}
		return read{s.name, made.Name, made}, errors.Join(err, checkOwner(made.Owner))
	})
	s.write = func(_ *Planner, _ string, object any) (any, error) {
		region := object.(*model.Region).Shown()
		written := model.Written(region)
		name := cmp.Or(region.Label, region.Name)
		written["name"] = name
		if id, err := objects.RegionID(name, region.Code); err == nil && id == region.Name {
			delete(written, "id") // the id follows from name and code
		}
		return written, nil
	}
	return s
}

func domainSection(k definitions.Declared) *section {
	s := declaredSection(k)
	s.affects = func(object any) string { return object.(*model.Domain).Name }
	s.read = elements(func(r *reader, req api.DocumentDomain) (read, error) {
		made, err := r.pl.o.Edit.NewDomain(req, model.FromDocument)
		if made == nil {
			return read{}, err
		}
		made.Regions = r.names.All(made.Regions)
		return read{s.name, made.Name, made}, errors.Join(err, checkOwner(made.Owner))
	})
	return s
}

func mappingSection(k definitions.Declared) *section {
	s := declaredSection(k)
	s.everywhere = true
	s.read = elements(func(r *reader, req api.DocumentMapping) (read, error) {
		made, err := objects.NewMapping(req, r.names, model.FromDocument)
		if err != nil {
			return read{}, err
		}
		return read{s.name, made.Key(), made}, checkOwner(made.Owner)
	})
	s.compare = func(a, b any) int {
		return definitions.CompareNetworks(a.(*model.Mapping).CIDR, b.(*model.Mapping).CIDR)
	}
	return s
}

func agentSection(k definitions.Declared) *section {
	s := declaredSection(k)
	s.plural = "announced agents"
	s.regions = func(any) []string { return nil } // an agent can name a deleted region
	s.owned = func(object any) ownership {
		n := object.(*store.Node)
		o := newOwnership()
		o.owner, o.created = &n.Owner, &n.RegisteredAt
		return o
	}
	s.read = elements(func(r *reader, req api.DocumentAgent) (read, error) {
		made, err := r.pl.o.Edit.NewAgent(req.AgentRegistration)
		if err != nil {
			return read{}, err
		}
		made.Owner, made.Region = req.Owner, r.names.Of(made.Region)
		return read{s.name, made.ID, made}, checkOwner(req.Owner)
	})
	s.check = func(c *checker, id string, object, was any) {
		n := object.(*store.Node)
		if n.Region != "" && (was == nil || was.(*store.Node).Region != n.Region) {
			c.problems.check(s.kind+" "+id, c.mayName(n.Region))
		}
	}
	s.write = func(_ *Planner, _ string, object any) (any, error) {
		n := object.(*store.Node)
		return api.DocumentAgent{Owner: n.Owner, AgentRegistration: api.AgentRegistration{Name: n.ID, Address: n.Address,
			Port: n.Port, Region: n.Region, Version: n.Version}}, nil
	}
	return s
}
