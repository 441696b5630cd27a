package cli

import (
	"context"
	"maps"
	"slices"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/shared/api"
)

// each returns the name of each element.
func each[E any](list []E, name func(E) string) []string {
	names := make([]string, len(list))
	for i, element := range list {
		names[i] = name(element)
	}
	return names
}

func domainNames(ctx context.Context, c *api.Client) ([]string, error) {
	list, err := c.Domains(ctx)
	return each(list.Domains, func(d api.Domain) string { return d.Name }), err
}

// tagNames returns the tags that any domain has.
func tagNames(ctx context.Context, c *api.Client) ([]string, error) {
	list, err := c.Domains(ctx)
	tags := make(map[string]bool)
	for _, d := range list.Domains {
		for _, tag := range d.Tags {
			tags[tag] = true
		}
	}
	return slices.Sorted(maps.Keys(tags)), err
}

// regionTagNames returns the tags that any region has.
func regionTagNames(ctx context.Context, c *api.Client) ([]string, error) {
	list, err := c.Regions(ctx)
	tags := make(map[string]bool)
	for _, r := range list.Regions {
		for _, tag := range r.Tags {
			tags[tag] = true
		}
	}
	return slices.Sorted(maps.Keys(tags)), err
}

func agentNames(ctx context.Context, c *api.Client) ([]string, error) {
	list, err := c.Agents(ctx)
	return each(list.Agents, func(agent api.Agent) string { return agent.AgentID }), err
}

func serviceNames(ctx context.Context, c *api.Client) ([]string, error) {
	stats, err := c.Stats(ctx)
	return slices.Sorted(maps.Keys(stats.BackendsByService)), err
}

// policyNames returns the names that --policy and --fallback take.
func policyNames(ctx context.Context, c *api.Client) ([]string, error) {
	list, err := c.RoutingAlgorithms(ctx)
	return each(list.Algorithms, func(one api.RoutingAlgorithm) string { return one.ID }), err
}

// zoneNames returns the configured zones of a node.
func zoneNames(ctx context.Context, c *api.Client) ([]string, error) {
	answer, err := c.DNSConfig(ctx)
	return answer.Config.Zones, err
}

// backendIDs returns the ids of the backends of a node.
func backendIDs(ctx context.Context, c *api.Client) ([]string, error) {
	list, err := allBackends(ctx, c)
	return allIDs(list.Backends), err
}

// backendsAndServices returns the ids of the backends of a node, and the services.
func backendsAndServices(ctx context.Context, c *api.Client) ([]string, error) {
	ids, err := backendIDs(ctx, c)
	if err != nil {
		return nil, err
	}
	services, err := serviceNames(ctx, c)
	return append(ids, services...), err
}

func endpointsOf(service string) cmdline.Names {
	return func(ctx context.Context, c *api.Client) ([]string, error) {
		list, err := c.Backends(ctx, api.BackendFilter{Service: service})
		return each(list.Backends, func(b api.Backend) string { return endpoint(b.Address, b.Port) }), err
	}
}
