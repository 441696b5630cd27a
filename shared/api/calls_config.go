package api

import (
	"context"
	"net/http"
)

// The sections of the configuration in the API.
const (
	pathDNSConfig         = "/api/v1/config/dns"
	pathHealthCheckConfig = "/api/v1/config/health-check"
	pathLoggingConfig     = "/api/v1/config/logging"
	pathGossipConfig      = "/api/v1/gossip/config"
	pathPreferences       = "/api/v1/preferences"
	pathRegions           = "/api/v1/regions"
	pathMappings          = "/api/v1/geo/mappings"
)

// send makes a request with a body and decodes its answer.
func send[T any](ctx context.Context, c *Client, method, path string, body any, names ...string) (T, error) {
	return ask[T](ctx, c, call{method: method, path: path, names: names, body: body})
}

// remove makes a DELETE request without an answer.
func (c *Client) remove(ctx context.Context, path string, names ...string) error {
	return c.do(ctx, call{method: http.MethodDelete, path: path, names: names}, nil)
}

// DNSConfig returns the settings of DNS answers.
func (c *Client) DNSConfig(ctx context.Context) (DNSConfigAnswer, error) {
	return get[DNSConfigAnswer](ctx, c, pathDNSConfig, nil)
}

// ChangeDNSConfig changes the settings that are not nil.
func (c *Client) ChangeDNSConfig(ctx context.Context, change DNSConfigChange) (DNSConfigAnswer, error) {
	return send[DNSConfigAnswer](ctx, c, http.MethodPatch, pathDNSConfig, change)
}

// HealthCheckConfig returns the settings of the node's own checks.
func (c *Client) HealthCheckConfig(ctx context.Context) (HealthCheckConfigAnswer, error) {
	return get[HealthCheckConfigAnswer](ctx, c, pathHealthCheckConfig, nil)
}

// ChangeHealthCheckConfig changes the settings that are not nil.
func (c *Client) ChangeHealthCheckConfig(ctx context.Context, change HealthCheckConfigChange) (HealthCheckConfigAnswer,
	error) {
	return send[HealthCheckConfigAnswer](ctx, c, http.MethodPatch, pathHealthCheckConfig, change)
}

// LoggingConfig returns the settings of the log.
func (c *Client) LoggingConfig(ctx context.Context) (LoggingConfigAnswer, error) {
	return get[LoggingConfigAnswer](ctx, c, pathLoggingConfig, nil)
}

// ChangeLoggingConfig changes the settings that are not nil.
func (c *Client) ChangeLoggingConfig(ctx context.Context, change LoggingConfigChange) (LoggingConfigAnswer, error) {
	return send[LoggingConfigAnswer](ctx, c, http.MethodPatch, pathLoggingConfig, change)
}

// GossipSettings returns the node's gossip settings.
func (c *Client) GossipSettings(ctx context.Context) (GossipSettings, error) {
	return get[GossipSettings](ctx, c, pathGossipConfig, nil)
}

// ChangeGossipSettings changes the settings that are not nil. They take effect at the next start.
func (c *Client) ChangeGossipSettings(ctx context.Context, change GossipConfigChange) (GossipSettings, error) {
	return send[GossipSettings](ctx, c, http.MethodPatch, pathGossipConfig, change)
}

// ResetConfig resets a section to the settings of the file: "dns", "health-check", "logging" or
// "gossip".
func (c *Client) ResetConfig(ctx context.Context, section string) error {
	if section == "gossip" {
		return c.remove(ctx, pathGossipConfig)
	}
	return c.remove(ctx, "/api/v1/config", section)
}

// SystemConfig returns the node's identity, build and configuration file.
func (c *Client) SystemConfig(ctx context.Context) (SystemConfigAnswer, error) {
	return get[SystemConfigAnswer](ctx, c, "/api/v1/config/system", nil)
}

// ValidateConfig makes the node validate the YAML text of a configuration. The text must not include other files.
func (c *Client) ValidateConfig(ctx context.Context, text []byte) (ConfigValidation, error) {
	return ask[ConfigValidation](ctx, c, call{method: http.MethodPost, path: "/api/v1/config/validate", raw: text,
		contentType: "application/yaml"})
}

// Preferences returns the display preferences.
func (c *Client) Preferences(ctx context.Context) (PreferencesAnswer, error) {
	return get[PreferencesAnswer](ctx, c, pathPreferences, nil)
}

// ChangePreferences changes the preferences that are not nil.
func (c *Client) ChangePreferences(ctx context.Context, change PreferencesChange) (PreferencesAnswer, error) {
	return send[PreferencesAnswer](ctx, c, http.MethodPatch, pathPreferences, change)
}

// Regions lists all regions.
func (c *Client) Regions(ctx context.Context) (RegionList, error) {
	return everyPage(ctx, c, pathRegions, nil, func(l *RegionList) (*[]Region, int) { return &l.Regions, l.Total })
}

// Region returns a region.
func (c *Client) Region(ctx context.Context, name string) (Region, error) {
	return get[Region](ctx, c, pathRegions, nil, name)
}

// CreateRegion creates a region. When it returns, the region is usable.
func (c *Client) CreateRegion(ctx context.Context, req RegionChange) (Region, error) {
	return send[Region](ctx, c, http.MethodPost, pathRegions, req)
}

// ChangeRegion changes a region created through the API.
func (c *Client) ChangeRegion(ctx context.Context, name string, req RegionChange) (Region, error) {
	return send[Region](ctx, c, http.MethodPatch, pathRegions, req, name)
}

// DeleteRegion deletes an unused region created through the API.
func (c *Client) DeleteRegion(ctx context.Context, name string) error {
	return c.remove(ctx, pathRegions, name)
}

// PutGeoMapping maps the clients of a network to a region. When it returns, DNS answers have changed.
func (c *Client) PutGeoMapping(ctx context.Context, req GeoMappingChange) (GeoMapping, error) {
	return send[GeoMapping](ctx, c, http.MethodPut, pathMappings, req)
}

// DeleteGeoMapping deletes a mapping created through the API.
func (c *Client) DeleteGeoMapping(ctx context.Context, cidr string) error {
	return c.remove(ctx, pathMappings, cidr)
}
