package cli

import (
	"context"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/gslbctl/internal/fleet"
	"gslb.internal/shared/api"
)

// completeConfig is the configuration of a node: the file, with the objects and settings of the API. The API never
// returns secrets.
type completeConfig struct {
	Node     string             `json:"node"`
	Settings map[string]any     `json:"settings"` // by section
	Regions  []api.Region       `json:"regions"`
	Domains  []api.Domain       `json:"domains"`
	Servers  []api.Server       `json:"servers"`
	Targets  []api.ServerTarget `json:"targets"` // servers with a host name
	Mappings []api.GeoMapping   `json:"mappings"`
}

// readConfig reads the complete configuration of a node.
func readConfig(ctx context.Context, c *api.Client) (config completeConfig, err error) {
	config = completeConfig{Node: c.Node(), Settings: map[string]any{}}
	for name, s := range configSections() {
		if config.Settings[name], err = s.show(ctx, c); err != nil {
			return config, err
		}
	}
	regions, err := c.Regions(ctx)
	if err != nil {
		return config, err
	}
	domains, err := c.Domains(ctx)
	if err != nil {
		return config, err
	}
	servers, err := c.Servers(ctx)
	if err != nil {
		return config, err
	}
	mappings, err := c.GeoMappings(ctx)
	config.Regions, config.Domains, config.Mappings = regions.Regions, domains.Domains, mappings.Mappings
	config.Servers, config.Targets = servers.Servers, servers.Targets
	return config, err
}

// exportAll prints the complete configuration of the first node that answers, as YAML by default.
func (a *app) exportAll(ctx context.Context) error {
	config, err := fleet.First(ctx, a.Fleet, readConfig)
	if err != nil {
		return err
	}
	if a.ForPeople() {
		a.Output = cmdline.YAML
	}
	return a.Print(config, nil)
}
