package cli

import (
	"context"
	"fmt"
	"maps"
	"strconv"
	"strings"

	"gslb.internal/gslbctl/internal/fleet"
	"gslb.internal/shared/api"
)

// fact identifies one value that diff compares between nodes, such as the status of a server.
type fact struct{ kind, name string }

// readFacts reads all facts that diff compares from a node.
func readFacts(ctx context.Context, c *api.Client) (map[fact]string, error) {
	all := map[fact]string{}
	for _, part := range []fleet.Request[map[fact]string]{serverThings, domainThings, placeThings, trustThings} {
		found, err := part(ctx, c)
		if err != nil {
			return nil, err
		}
		maps.Copy(all, found)
	}
	return all, nil
}

func serverThings(ctx context.Context, c *api.Client) (map[fact]string, error) {
	servers, err := c.Servers(ctx)
	if err != nil {
		return nil, err
	}
	overrides, err := c.Overrides(ctx)
	found := map[fact]string{}
	for _, s := range servers.Servers {
		said := fmt.Sprintf("%s, weight %d, in %s", s.EffectiveStatus, s.Weight, s.Region)
		if s.Draining {
			said += ", draining"
		}
		found[fact{"server", s.ID}] = said
	}
	for _, o := range overrides.Overrides {
		found[fact{"override", o.Service + " " + o.Address}] = verdictCell(&o.Healthy).Text
	}
	return found, err
}

func domainThings(ctx context.Context, c *api.Client) (map[fact]string, error) {
	domains, err := c.Domains(ctx)
	found := map[fact]string{}
	for _, d := range domains.Domains {
		said := fmt.Sprintf("%s, TTL %ds", d.RoutingPolicy, d.TTL)
		if !d.Enabled {
			said += ", disabled"
		}
		if len(d.ActiveRegions) > 0 {
			said += ", active region " + strings.Join(d.ActiveRegions, " and ")
		}
		found[fact{"domain", d.Name}] = said
	}
	return found, err
}

func placeThings(ctx context.Context, c *api.Client) (map[fact]string, error) {
	regions, err := c.Regions(ctx)
	if err != nil {
		return nil, err
	}
	mappings, err := c.GeoMappings(ctx)
	found := map[fact]string{}
	for _, r := range regions.Regions {
		said := "disabled"
		if r.Enabled {
			said = "enabled"
		}
		found[fact{"region", r.ID}] = said
	}
	for _, m := range mappings.Mappings {
		found[fact{"mapping", m.CIDR.String()}] = m.Region
	}
	return found, err
}

// fingerprintShown is the length to which fingerprints are shortened.
const fingerprintShown = len("sha256:") + 16

func trustThings(ctx context.Context, c *api.Client) (map[fact]string, error) {
	agents, err := c.Agents(ctx)
	if err != nil {
		return nil, err
	}
	keys, err := c.DNSSECStatus(ctx)
	found := map[fact]string{}
	for _, agent := range agents.Agents {
		said := agent.Fingerprint[:min(len(agent.Fingerprint), fingerprintShown)]
		if agent.Revoked {
			said = "revoked"
		}
		found[fact{"agent", agent.AgentID}] = said
	}
	for _, k := range keys.Keys {
		said := "does not sign"
		if k.Active {
			said = "signs"
		}
		found[fact{"key", k.Zone + " " + strconv.Itoa(k.KeyTag)}] = said
	}
	return found, err
}
