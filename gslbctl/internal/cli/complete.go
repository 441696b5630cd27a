package cli

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gslb.internal/shared/api"
)

// completionTimeout bounds the request behind a completion, while a person waits for the tab key.
const completionTimeout = time.Second

// names asks a node for the possible values of an argument.
type names = question[[]string]

// completion completes an argument with names from a node. Without an answer there are none.
func (a *app) completion(of names) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(cmd.Context(), completionTimeout)
		defer cancel()
		list, err := read(ctx, a, of)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return list, cobra.ShellCompDirectiveNoFileComp
	}
}

// arguments completes the first arguments, one for each of of.
func (a *app) arguments(of ...names) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) >= len(of) {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return a.completion(of[len(args)])(cmd, args, typed)
	}
}

// backendArguments completes the id of a backend, or a service and then the addresses of its backends.
func (a *app) backendArguments(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	switch len(args) {
	case 0:
		return a.completion(backendsAndServices)(cmd, args, typed)
	case 1:
		return a.completion(endpointsOf(args[0]))(cmd, args, typed)
	}
	return nil, cobra.ShellCompDirectiveNoFileComp
}

// overrideArguments completes the services and addresses with an override, and both in the form of an id.
func (a *app) overrideArguments(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 1 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return a.completion(func(ctx context.Context, c *api.Client) ([]string, error) {
		list, err := c.Overrides(ctx)
		var found []string
		for _, o := range list.Overrides {
			if len(args) == 0 {
				found = append(found, o.Service+":"+strings.NewReplacer("[", "", "]", "").Replace(o.Address), o.Service)
			} else if o.Service == args[0] {
				found = append(found, o.Address)
			}
		}
		return found, err
	})(cmd, args, typed)
}

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

// severalOf completes the last of several names, which are separated by commas.
func (a *app) severalOf(of names) cobra.CompletionFunc {
	offer := a.completion(of)
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		list, directive := offer(cmd, args, "")
		before := strings.LastIndex(typed, ",") + 1
		given := strings.Split(typed[:before], ",")
		var found []string
		for _, name := range list {
			if !slices.Contains(given, name) {
				found = append(found, typed[:before]+name)
			}
		}
		return found, directive | cobra.ShellCompDirectiveNoSpace
	}
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

func endpointsOf(service string) names {
	return func(ctx context.Context, c *api.Client) ([]string, error) {
		list, err := c.Backends(ctx, api.BackendFilter{Service: service})
		return each(list.Backends, func(b api.Backend) string { return endpoint(b.Address, b.Port) }), err
	}
}
