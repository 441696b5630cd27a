package api

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
)

// get makes a GET request and decodes its answer.
func get[T any](ctx context.Context, c *Client, path string, query url.Values, names ...string) (T, error) {
	return ask[T](ctx, c, call{method: http.MethodGet, path: path, names: names, query: query})
}

// everyPage reads a list page by page and returns the last page with the entries of all pages. of returns a pointer to
// the entries of a page, and the total.
func everyPage[L, T any](ctx context.Context, c *Client, path string, query url.Values,
	of func(*L) (*[]T, int), names ...string) (L, error) {
	if query == nil {
		query = url.Values{}
	}
	query.Set("limit", strconv.Itoa(MaxPageLimit))
	for all := []T{}; ; {
		query.Set("offset", strconv.Itoa(len(all)))
		page, err := get[L](ctx, c, path, query, names...)
		if err != nil {
			return page, err
		}
		entries, total := of(&page)
		got := len(*entries)
		all = append(all, *entries...)
		if got == 0 || len(all) >= total {
			*entries = all
			return page, nil
		}
	}
}

// Health requests the simple health record.
func (c *Client) Health(ctx context.Context) (Health, error) {
	return get[Health](ctx, c, "/api/health", nil)
}

// Readiness returns whether the node is ready. It returns no error for a node that is not ready.
func (c *Client) Readiness(ctx context.Context) (Readiness, error) {
	return ask[Readiness](ctx, c, call{method: http.MethodGet, path: "/api/v1/ready", also: http.StatusServiceUnavailable})
}

// Version returns the build of the node.
func (c *Client) Version(ctx context.Context) (Version, error) {
	return get[Version](ctx, c, "/api/v1/version", nil)
}

// ServerHealth lists the health records of all servers.
func (c *Client) ServerHealth(ctx context.Context) (ServerHealthList, error) {
	return everyPage(ctx, c, "/api/v1/health/servers", nil,
		func(l *ServerHealthList) (*[]ServerHealth, int) { return &l.Servers, l.Total })
}

// RegionHealth lists the health of all regions.
func (c *Client) RegionHealth(ctx context.Context) (RegionHealthList, error) {
	return get[RegionHealthList](ctx, c, "/api/v1/health/regions", nil)
}

// Servers lists all servers.
func (c *Client) Servers(ctx context.Context) (ServerList, error) {
	return everyPage(ctx, c, "/api/v1/servers", nil, func(l *ServerList) (*[]Server, int) { return &l.Servers, l.Total })
}

// Domains lists all domains.
func (c *Client) Domains(ctx context.Context) (DomainList, error) {
	return everyPage(ctx, c, "/api/v1/domains", nil, func(l *DomainList) (*[]Domain, int) { return &l.Domains, l.Total })
}

// TaggedDomains lists the domains that have a tag.
func (c *Client) TaggedDomains(ctx context.Context, tag string) (DomainList, error) {
	return everyPage(ctx, c, "/api/v1/domains", url.Values{"tag": {tag}},
		func(l *DomainList) (*[]Domain, int) { return &l.Domains, l.Total })
}

// Domain returns a domain.
func (c *Client) Domain(ctx context.Context, name string) (DomainDetail, error) {
	return get[DomainDetail](ctx, c, "/api/v1/domains", nil, name)
}

// DomainBackends lists the backends of a domain.
func (c *Client) DomainBackends(ctx context.Context, name string) (DomainBackendList, error) {
	return everyPage(ctx, c, "/api/v1/domains", nil,
		func(l *DomainBackendList) (*[]DomainBackend, int) { return &l.Backends, l.Total }, name, "backends")
}

// BackendFilter filters a list of backends; an empty field matches all.
type BackendFilter struct {
	Service string
	Region  string
	Status  EffectiveStatus
}

func (f BackendFilter) query() url.Values {
	return given(map[string]string{"service": f.Service, "region": f.Region, "status": string(f.Status)})
}

// given returns the parameters of a query with a value.
func given(parameters map[string]string) url.Values {
	q := url.Values{}
	for name, value := range parameters {
		if value != "" {
			q.Set(name, value)
		}
	}
	return q
}

// Backends lists the backends that match the filter, as the node sees them.
func (c *Client) Backends(ctx context.Context, filter BackendFilter) (BackendList, error) {
	return everyPage(ctx, c, "/api/v1/overwatch/backends", filter.query(),
		func(l *BackendList) (*[]Backend, int) { return &l.Backends, l.Total })
}

// Stats returns the node's counts of backends and agents.
func (c *Client) Stats(ctx context.Context) (Stats, error) {
	return get[Stats](ctx, c, "/api/v1/overwatch/stats", nil)
}

// Agents lists all pinned agents.
func (c *Client) Agents(ctx context.Context) (AgentList, error) {
	return everyPage(ctx, c, "/api/v1/overwatch/agents", nil,
		func(l *AgentList) (*[]Agent, int) { return &l.Agents, l.Total })
}

// Agent returns a pinned agent.
func (c *Client) Agent(ctx context.Context, id string) (Agent, error) {
	return get[Agent](ctx, c, "/api/v1/overwatch/agents", nil, id)
}

// ExpiringAgents lists the agents with certificates that expire within the given number of days.
func (c *Client) ExpiringAgents(ctx context.Context, days int) (ExpiringAgents, error) {
	query := url.Values{"threshold_days": {strconv.Itoa(days)}}
	return get[ExpiringAgents](ctx, c, "/api/v1/overwatch/agents/expiring", query)
}

// Overrides lists all active overrides.
func (c *Client) Overrides(ctx context.Context) (OverrideList, error) {
	return everyPage(ctx, c, "/api/v1/overrides", nil,
		func(l *OverrideList) (*[]Override, int) { return &l.Overrides, l.Total })
}
