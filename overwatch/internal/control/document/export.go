package document

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"gslb.internal/overwatch/internal/control/objects"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
)

// writtenRegion returns a region for a document. It omits the id if the name and code determine it.
func writtenRegion(r *model.Region) api.DocumentRegion {
	written := model.Written(r)
	name := cmp.Or(r.Label, r.Name)
	written["name"] = name
	if id, err := objects.RegionID(name, r.Code); err == nil && id == r.Name {
		delete(written, "id")
	}
	return written
}

// writtenServer returns a server for a document, without secrets. It omits a health check equal to the health check of
// the region, and resets settings that only the region has.
func writtenServer(cfg *config.Config, server *model.Server) api.DocumentServer {
	written := model.Written(server.Shown())
	if server.Target != "" {
		return written
	}
	ofRegion := cfg.CheckIn(server.Region)
	if server.HealthCheck == nil || server.HealthCheck.Spec() == ofRegion {
		delete(written, "health_check")
		return written
	}
	own := model.Written(server.HealthCheck.Shown())
	for name := range model.Written(model.HealthCheckOf(ofRegion)) {
		if !own.Has(name) {
			own[name] = nil
		}
	}
	written["health_check"] = own
	return written
}

func writtenAgent(n *store.Node) api.DocumentAgent {
	return api.DocumentAgent{Owner: n.Owner, AgentRegistration: api.AgentRegistration{Name: n.ID, Address: n.Address,
		Port: n.Port, Region: n.Region, Version: n.Version}}
}

// Export returns the objects of the API as a document.
func (pl *Planner) Export() (doc api.Document, err error) {
	held := pl.current()
	cfg := pl.o.Edit.Config()
	for _, name := range slices.Sorted(maps.Keys(held.regions)) {
		doc.Regions = append(doc.Regions, writtenRegion(held.regions[name]))
	}
	for _, name := range slices.Sorted(maps.Keys(held.domains)) {
		doc.Domains = append(doc.Domains, model.Written(held.domains[name]))
	}
	for _, server := range pl.o.Inventory.All() {
		doc.Servers = append(doc.Servers, writtenServer(cfg, &server))
	}
	for _, id := range slices.SortedFunc(maps.Keys(held.targets), definitions.TargetID.Compare) {
		doc.Servers = append(doc.Servers, writtenServer(cfg, held.targets[id]))
	}
	for _, m := range slices.SortedFunc(maps.Values(held.mappings), func(a, b *model.Mapping) int {
		return definitions.CompareNetworks(a.CIDR, b.CIDR)
	}) {
		doc.Mappings = append(doc.Mappings, model.Written(m))
	}
	for _, id := range sortedKeys(held.agents) {
		doc.Agents = append(doc.Agents, writtenAgent(held.agents[id]))
	}
	for _, section := range sortedKeys(held.settings) {
		if valuesOf(held.settings[section]) == nil {
			continue
		}
		w := api.DocumentSettings{Section: section}
		if err := json.Unmarshal(*held.settings[section], &w.Values); err != nil {
			return doc, fmt.Errorf("the stored settings of %s: %w", section, err)
		}
		doc.Settings = append(doc.Settings, w)
	}
	return doc, nil
}
