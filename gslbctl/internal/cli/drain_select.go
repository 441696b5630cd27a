package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/fleet"
	"gslb.internal/shared/api"
)

// allBackends requests the backends of a node.
func allBackends(ctx context.Context, c *api.Client) (api.BackendList, error) {
	return c.Backends(ctx, api.BackendFilter{})
}

// backendsAndDrains requests the backends of a node and appends the backends that operators have drained. A drained
// backend can be unknown to the node, so only its id, service, address and port are set. Draining is also true for a
// planned drain.
func backendsAndDrains(ctx context.Context, c *api.Client) (api.BackendList, error) {
	list, err := allBackends(ctx, c)
	if err != nil {
		return list, err
	}
	orders, err := c.Orders(ctx)
	known := make(map[string]int, len(list.Backends))
	for i, b := range list.Backends {
		known[b.ID] = i
	}
	for _, o := range orders.Orders {
		at, wrong := netip.ParseAddrPort(o.Address)
		if wrong != nil || o.Kind != api.OrderDrain {
			continue
		}
		id := fmt.Sprintf("%s:%s:%d", o.Service, at.Addr(), at.Port())
		if i, there := known[id]; there {
			list.Backends[i].Draining = true
			continue
		}
		list.Backends = append(list.Backends, api.Backend{ID: id, Service: o.Service, Address: at.Addr().String(),
			Port: int(at.Port()), Draining: true})
	}
	return list, err
}

// serversNamed sends the request list to all nodes and returns the backends that a name on the command line selects: by
// the rules of selectBackends, or else by agent or region.
func (a *app) serversNamed(ctx context.Context, name string, list fleet.Request[api.BackendList]) ([]api.Backend,
	error) {
	if name == "" { // an empty name would match every server without an agent
		return nil, errors.New("the name is empty: give the id, address, agent or region of a server")
	}
	all, err := a.knownBackends(ctx, list)
	if err != nil {
		return nil, err
	}
	if found := selectBackends(name, all); len(found) > 0 {
		return found, nil
	}
	for _, means := range []func(api.Backend) bool{
		func(b api.Backend) bool { return b.AgentID == name },
		func(b api.Backend) bool { return b.Region == name },
		func(b api.Backend) bool { return strings.EqualFold(b.Region, name) },
	} {
		if found := filtered(all, means); len(found) > 0 {
			return found, nil
		}
	}
	if len(backendNames(name)) > 0 {
		return nil, noBackend(name, all)
	}
	return nil, fleet.NewError(fleet.Degraded, fmt.Sprintf(
		"no node knows a server, an address, an agent or a region %q; "+fleet.NothingChanged+": gslbctl servers -o "+
			"name lists the servers", name), &api.Error{Status: http.StatusNotFound})
}

// drainForms describes the arguments of drain and undrain, for usage lines.
const drainForms = backendForms + "|<service> <ip>[:<port>]|<agent>|<region>|--region <region> [--service <name>]"

// drainScope are the flags of drain and undrain that select backends.
type drainScope struct{ region, service string }

// drainScopeFlags adds --region and --service to drain or undrain.
func (a *app) drainScopeFlags(cmd *cobra.Command, of *drainScope) {
	cmd.Flags().StringVar(&of.region, "region", "", "all backends in this `region`, instead of an argument")
	cmd.Flags().StringVar(&of.service, "service", "", "only the backends of this `name`; requires a region, an agent or "+
		"an address")
	_ = cmd.RegisterFlagCompletionFunc("region", a.Complete(allRegionNames))
	_ = cmd.RegisterFlagCompletionFunc("service", a.Complete(serviceNames))
}

// read returns the name that selects the backends: the arguments of drain or undrain, or the value of --region. An
// argument next to --region is the service.
func (of *drainScope) read(args []string) (string, error) {
	switch {
	case len(args) == 1 && (args[0] == "list" || args[0] == "ls"):
		return "", errors.New("gslbctl orders lists drains; for a region of this name, use --region")
	case len(args) == 0 && of.region == "":
		return "", errors.New("arguments are missing: name a backend, an address, an agent or a region")
	case len(args) == 1 && of.region != "" && of.service == "" && isServiceName(args[0]):
		of.service = args[0]
		return of.region, nil
	case len(args) > 0 && of.region != "":
		return "", fmt.Errorf("--region %s and %q are given: omit one of them", of.region, strings.Join(args, " "))
	case of.region != "":
		return of.region, nil
	}
	return joinBackend(args)
}

// isServiceName reports whether an argument can only be the name of a service: it has a dot, and no address.
func isServiceName(arg string) bool { return strings.Contains(arg, ".") && len(backendNames(arg)) == 0 }

// arguments returns the arguments that select the same backends again.
func (of *drainScope) arguments(name string) string {
	if of.region != "" {
		name = "--region " + name
	}
	if of.service != "" {
		name += " --service " + of.service
	}
	return name
}

// describe returns the selected backends as words of a sentence.
func (of *drainScope) describe(name string) string {
	if of.service != "" {
		return of.service + " in " + name
	}
	return name
}

// drainArguments completes the argument of drain and undrain, and the address after a service.
func (a *app) drainArguments(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	switch len(args) {
	case 0:
		return a.Complete(drainNames)(cmd, args, typed)
	case 1:
		return a.Complete(endpointsOf(args[0]))(cmd, args, typed)
	}
	return nil, cobra.ShellCompDirectiveNoFileComp
}

// serversToDrain returns the backends of a region, or without a region the backends that serversNamed returns. With a
// service, it returns only the backends of this service.
func (a *app) serversToDrain(ctx context.Context, name string, of drainScope,
	known fleet.Request[api.BackendList]) ([]api.Backend, error) {
	found, err := a.serversOfScope(ctx, name, of.region, known)
	if err != nil || of.service == "" {
		return found, err
	}
	found = filtered(found, func(b api.Backend) bool { return sameName(strings.TrimSuffix(of.service, "."), b.Service) })
	if len(found) == 0 {
		return nil, fleet.NewError(fleet.Degraded, fmt.Sprintf("no node knows a backend of %s in %s; "+
			fleet.NothingChanged+": gslbctl backends --service %s lists its backends", of.service, name, of.service),
			&api.Error{Status: http.StatusNotFound})
	}
	return found, nil
}

// serversOfScope returns the backends of a region, or without a region the backends that serversNamed returns.
func (a *app) serversOfScope(ctx context.Context, name, region string,
	known fleet.Request[api.BackendList]) ([]api.Backend, error) {
	if region == "" {
		return a.serversNamed(ctx, name, known)
	}
	all, err := a.knownBackends(ctx, known)
	if err != nil {
		return nil, err
	}
	found := filtered(all, func(b api.Backend) bool { return strings.EqualFold(b.Region, region) })
	if len(found) == 0 {
		return nil, fleet.NewError(fleet.Degraded, fmt.Sprintf("no node knows a backend in the region %q; "+
			fleet.NothingChanged, region), &api.Error{Status: http.StatusNotFound})
	}
	return found, nil
}

// isRegion reports whether serversNamed has selected these servers by their region name.
func isRegion(name string, servers []api.Backend) bool {
	return servers[0].AgentID != name && len(selectBackends(name, servers)) == 0
}

// drainNames returns every name that drain accepts.
func drainNames(ctx context.Context, c *api.Client) ([]string, error) {
	list, err := c.Backends(ctx, api.BackendFilter{})
	var found []string
	for _, b := range list.Backends {
		found = append(found, b.ID, b.Address, b.AgentID, b.Region)
	}
	slices.Sort(found)
	return slices.DeleteFunc(slices.Compact(found), func(name string) bool { return name == "" }), err
}

func allIDs(servers []api.Backend) []string {
	return each(servers, func(s api.Backend) string { return s.ID })
}

func ids(servers []api.Backend) string {
	list := allIDs(servers)
	const shown = 5
	if more := len(list) - shown; more > 0 {
		return strings.Join(list[:shown], ", ") + fmt.Sprintf(" and %d more", more)
	}
	return strings.Join(list, ", ")
}

// eachServer calls do for each server on one node and returns the results as a sentence. It skips servers that the node
// does not know and returns a *someUnknown error for them, or the error of the node if it knows none of the servers. An
// error after the first change is a *partial.
func eachServer(servers []api.Backend, do func(id string) (said string, err error)) (string, error) {
	var sentences []string
	var missing error
	for _, s := range servers {
		said, err := do(s.ID)
		if fleet.IsNotFound(err) {
			missing = err
			continue
		}
		if err != nil {
			return "", fleet.After(len(sentences), strings.Join(sentences, "; "), err)
		}
		sentences = append(sentences, "server "+s.ID+" "+said)
	}
	switch {
	case len(sentences) == 0:
		return "", missing
	case missing != nil:
		return strings.Join(sentences, "; "), &fleet.PartlyUnknownError{Err: missing}
	}
	return strings.Join(sentences, "; "), nil
}
