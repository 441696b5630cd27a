package upgrade_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

// mixedDomain is the domain with the servers of the weights, drains and overrides of the test.
const mixedDomain = "mixed.test.gslb.test"

// call is a request of a change.
type call func(ctx context.Context, c *api.Client) error

// mixedKind is one kind of replicated object. Each object has a number from 0 to 2, by which its name is chosen. All
// numbers of a single kind are the same object.
type mixedKind struct {
	name   string
	single bool
	// create and change set the value "created" or "changed". A kind without change only has the value "created".
	create, change, remove func(number int) call
	// value returns the value of the object on a node, or gone if the object does not exist.
	value func(ctx context.Context, c *api.Client, number int) (string, error)
}

// These are the values of an object of the test.
const (
	created = "created"
	changed = "changed"
	gone    = "gone"
)

// goneIf returns gone for the error of a missing object.
func goneIf(value string, err error) (string, error) {
	if failed, is := errors.AsType[*api.Error](err); is && failed.Status == http.StatusNotFound {
		return gone, nil
	}
	return value, err
}

// byNumber returns created for 11, changed for 22, and gone for any other number.
func byNumber(number int) string {
	switch number {
	case 11:
		return created
	case 22:
		return changed
	}
	return gone
}

func pointer[T any](v T) *T { return &v }

// address returns the address of the server of an object.
func address(number int) string { return fmt.Sprintf("192.0.2.%d", 100+number) }

// mixedKinds returns the kinds of objects that every node has. agent is the id of a pinned agent, and service is its
// service, which the configuration file has.
func mixedKinds(agent, service string) []mixedKind {
	return append(definedKinds(service), adminKinds(agent)...)
}

// definedKinds returns the kinds that define what nodes answer.
func definedKinds(service string) []mixedKind {
	domain := func(number int) string { return fmt.Sprintf("domain%d.test.gslb.test", number) }
	region := func(number int) string { return fmt.Sprintf("region%d", number) }
	network := func(number int) string { return fmt.Sprintf("198.51.%d.0/24", number) }
	server := func(number int) string { return fmt.Sprintf("%s:192.0.2.%d:80", mixedDomain, 200+number) }
	host := func(number int) string { return fmt.Sprintf("host%d.example.invalid", number) }
	agent := func(number int) string { return fmt.Sprintf("announced%d", number) }
	regionChange := func(number int, text string) api.RegionChange {
		return api.RegionChange{"name": region(number), "description": text}
	}
	domainTTL := func(ctx context.Context, c *api.Client, name string) (string, error) {
		d, err := c.Domain(ctx, name)
		return goneIf(byNumber(d.Domain.TTL), err)
	}
	mapping := func(text string) func(int) call {
		return func(number int) call {
			return func(ctx context.Context, c *api.Client) error {
				_, err := c.PutGeoMapping(ctx, api.GeoMappingChange{"cidr": network(number), "region": "eu", "comment": text})
				return err
			}
		}
	}
	return []mixedKind{
		{name: "domain",
			create: func(number int) call {
				return func(ctx context.Context, c *api.Client) error {
					_, err := c.CreateDomain(ctx, api.DomainChange{"name": domain(number), "ttl": 11})
					return err
				}
			},
			change: func(number int) call {
				return func(ctx context.Context, c *api.Client) error {
					_, err := c.ChangeDomain(ctx, domain(number), api.DomainChange{"ttl": 22})
					return err
				}
			},
			remove: func(number int) call {
				return func(ctx context.Context, c *api.Client) error { return c.DeleteDomain(ctx, domain(number)) }
			},
			value: func(ctx context.Context, c *api.Client, number int) (string, error) {
				return domainTTL(ctx, c, domain(number))
			}},
		{name: "region",
			create: func(number int) call {
				return func(ctx context.Context, c *api.Client) error {
					_, err := c.CreateRegion(ctx, regionChange(number, created))
					return err
				}
			},
			change: func(number int) call {
				return func(ctx context.Context, c *api.Client) error {
					_, err := c.ChangeRegion(ctx, region(number), regionChange(number, changed))
					return err
				}
			},
			remove: func(number int) call {
				return func(ctx context.Context, c *api.Client) error { return c.DeleteRegion(ctx, region(number)) }
			},
			value: func(ctx context.Context, c *api.Client, number int) (string, error) {
				r, err := c.Region(ctx, region(number))
				return goneIf(r.Description, err)
			}},
		{name: "mapping", create: mapping(created), change: mapping(changed),
			remove: func(number int) call {
				return func(ctx context.Context, c *api.Client) error { return c.DeleteGeoMapping(ctx, network(number)) }
			},
			value: func(ctx context.Context, c *api.Client, number int) (string, error) {
				list, err := c.GeoMappings(ctx)
				for _, m := range list.Mappings {
					if m.CIDR.String() == network(number) {
						return m.Comment, err
					}
				}
				return gone, err
			}},
		{name: "server",
			create: func(number int) call { return createServer("address", fmt.Sprintf("192.0.2.%d", 200+number)) },
			change: func(number int) call { return patchServer(server(number)) },
			remove: func(number int) call { return deleteServer(server(number)) },
			value: func(ctx context.Context, c *api.Client, number int) (string, error) {
				list, err := c.Servers(ctx)
				for i := range list.Servers {
					if list.Servers[i].ID == server(number) {
						return byNumber(list.Servers[i].Weight), err
					}
				}
				return gone, err
			}},
		{name: "health check of a server",
			create: func(number int) call {
				return func(ctx context.Context, c *api.Client) error {
					return errors.Join(createServer("address", fmt.Sprintf("192.0.2.%d", 210+number))(ctx, c),
						checkServer(fmt.Sprintf("%s:192.0.2.%d:80", mixedDomain, 210+number), created)(ctx, c))
				}
			},
			change: func(number int) call {
				return checkServer(fmt.Sprintf("%s:192.0.2.%d:80", mixedDomain, 210+number), changed)
			},
			remove: func(number int) call { return deleteServer(fmt.Sprintf("%s:192.0.2.%d:80", mixedDomain, 210+number)) },
			value: func(ctx context.Context, c *api.Client, number int) (string, error) {
				h, err := c.ServerHealthCheck(ctx, fmt.Sprintf("%s:192.0.2.%d:80", mixedDomain, 210+number))
				return goneIf(h.HealthCheck.Type+" "+h.HealthCheck.Path, err)
			}},
		{name: "server by host name",
			create: func(number int) call { return createServer("target", host(number)) },
			change: func(number int) call { return patchServer(mixedDomain + ":" + host(number) + ":80") },
			remove: func(number int) call { return deleteServer(mixedDomain + ":" + host(number) + ":80") },
			value: func(ctx context.Context, c *api.Client, number int) (string, error) {
				list, err := c.Servers(ctx)
				for i := range list.Targets {
					if list.Targets[i].Target == host(number) {
						return byNumber(list.Targets[i].Weight), err
					}
				}
				return gone, err
			}},
		{name: "announced agent",
			create: func(number int) call {
				return func(ctx context.Context, c *api.Client) error {
					_, err := c.AnnounceAgent(ctx, api.AgentRegistration{Name: agent(number), Region: "eu"})
					return err
				}
			},
			remove: func(number int) call {
				return func(ctx context.Context, c *api.Client) error { return c.DeregisterAgent(ctx, agent(number)) }
			},
			value: func(ctx context.Context, c *api.Client, number int) (string, error) {
				list, err := c.AgentNodes(ctx)
				for i := range list.Nodes {
					if list.Nodes[i].ID == agent(number) {
						return created, err
					}
				}
				return gone, err
			}},
		{name: "setting dns", single: true,
			create: func(int) call { return setDefaultTTL(11) }, change: func(int) call { return setDefaultTTL(22) },
			remove: func(int) call {
				return func(ctx context.Context, c *api.Client) error { return c.ResetConfig(ctx, "dns") }
			},
			value: func(ctx context.Context, c *api.Client, _ int) (string, error) {
				s, err := c.DNSConfig(ctx)
				return byNumber(s.Config.DefaultTTL), err
			}},
		{name: "setting health-check", single: true,
			create: func(int) call { return setChecks(11) }, change: func(int) call { return setChecks(22) },
			remove: func(int) call {
				return func(ctx context.Context, c *api.Client) error { return c.ResetConfig(ctx, "health-check") }
			},
			value: func(ctx context.Context, c *api.Client, _ int) (string, error) {
				s, err := c.HealthCheckConfig(ctx)
				return byNumber(s.Config.MaxConcurrentChecks), err
			}},
		{name: "overlay of a domain", single: true,
			create: func(int) call { return overlayTTL(service, 11) }, change: func(int) call { return overlayTTL(service, 22) },
			remove: func(int) call {
				return func(ctx context.Context, c *api.Client) error { return c.ResetDomain(ctx, service) }
			},
			value: func(ctx context.Context, c *api.Client, _ int) (string, error) { return domainTTL(ctx, c, service) }},
	}
}

func createServer(key, host string) call {
	return func(ctx context.Context, c *api.Client) error {
		_, err := c.CreateServer(ctx, api.ServerChange{"service": mixedDomain, key: host, "port": 80, "region": "eu",
			"weight": 11})
		return err
	}
}

func patchServer(id string) call {
	return func(ctx context.Context, c *api.Client) error {
		_, err := c.PatchServer(ctx, id, api.ServerChange{"weight": 22})
		return err
	}
}

func checkServer(id, value string) call {
	return func(ctx context.Context, c *api.Client) error {
		_, err := c.ChangeServerHealthCheck(ctx, id, api.HealthCheckChange{"type": "http", "path": "/" + value})
		return err
	}
}

func deleteServer(id string) call {
	return func(ctx context.Context, c *api.Client) error { return c.DeleteServer(ctx, id) }
}

func setDefaultTTL(ttl int) call {
	return func(ctx context.Context, c *api.Client) error {
		_, err := c.ChangeDNSConfig(ctx, api.DNSConfigChange{DefaultTTL: &ttl})
		return err
	}
}

func setChecks(count int) call {
	return func(ctx context.Context, c *api.Client) error {
		_, err := c.ChangeHealthCheckConfig(ctx, api.HealthCheckConfigChange{MaxConcurrentChecks: &count})
		return err
	}
}

func overlayTTL(name string, ttl int) call {
	return func(ctx context.Context, c *api.Client) error {
		_, err := c.ChangeDomain(ctx, name, api.DomainChange{"ttl": ttl})
		return err
	}
}

// adminKinds returns the admin states, and the revocation of an agent with the lock of its service.
func adminKinds(agent string) []mixedKind {
	override := func(text string) func(int) call {
		return func(number int) call {
			return func(ctx context.Context, c *api.Client) error {
				_, err := c.SetOverride(ctx, mixedDomain, address(number), api.OverrideRequest{Healthy: pointer(true),
					Reason: text})
				return err
			}
		}
	}
	weight := func(weight int) func(int) call {
		return func(number int) call {
			return func(ctx context.Context, c *api.Client) error {
				_, err := c.SetWeight(ctx, mixedDomain, address(number), 80, api.WeightRequest{Weight: &weight, Reason: "test"})
				return err
			}
		}
	}
	drain := func(text string) func(int) call {
		return func(number int) call {
			return func(ctx context.Context, c *api.Client) error {
				_, err := c.DrainServer(ctx, mixedDomain+":"+address(number)+":80", api.DrainRequest{Duration: "1s",
					Reason: text})
				return err
			}
		}
	}
	return []mixedKind{
		{name: "override", create: override(created), change: override(changed),
			remove: func(number int) call {
				return func(ctx context.Context, c *api.Client) error {
					return c.ClearOverride(ctx, mixedDomain, address(number))
				}
			},
			value: func(ctx context.Context, c *api.Client, number int) (string, error) {
				return adminValue(ctx, c, api.OrderOverride, address(number), func(o *api.Order) string { return o.Reason })
			}},
		{name: "weight", create: weight(11), change: weight(22),
			remove: func(number int) call {
				return func(ctx context.Context, c *api.Client) error {
					return c.ClearWeight(ctx, mixedDomain, address(number), 80)
				}
			},
			value: func(ctx context.Context, c *api.Client, number int) (string, error) {
				return adminValue(ctx, c, api.OrderWeight, address(number)+":80", func(o *api.Order) string {
					return byNumber(*o.Weight)
				})
			}},
		{name: "drain", create: drain(created), change: drain(changed),
			remove: func(number int) call {
				return func(ctx context.Context, c *api.Client) error {
					_, err := c.UndrainServer(ctx, mixedDomain+":"+address(number)+":80")
					return err
				}
			},
			value: func(ctx context.Context, c *api.Client, number int) (string, error) {
				return adminValue(ctx, c, api.OrderDrain, address(number)+":80", func(o *api.Order) string { return o.Reason })
			}},
		{name: "revocation", single: true,
			create: func(int) call {
				return func(ctx context.Context, c *api.Client) error {
					_, err := c.Revoke(ctx, agent, api.RevokeRequest{Reason: created, LockService: true})
					return err
				}
			},
			remove: func(int) call {
				return func(ctx context.Context, c *api.Client) error {
					_, err := c.Unpin(ctx, agent)
					return err
				}
			},
			value: func(ctx context.Context, c *api.Client, _ int) (string, error) {
				a, err := c.Agent(ctx, agent)
				if !a.Revoked {
					return gone, nil
				}
				return goneIf(a.RevokedReason, err)
			}},
		{name: "lock", single: true, // the revocation creates it
			remove: func(int) call {
				return func(ctx context.Context, c *api.Client) error {
					_, err := c.UnlockToken(ctx, testbed.AppName)
					return err
				}
			},
			value: func(ctx context.Context, c *api.Client, _ int) (string, error) {
				list, err := c.TokenLocks(ctx)
				if len(list.Locks) == 0 {
					return gone, err
				}
				return list.Locks[0].Reason, err
			}},
	}
}

// adminValue returns a value of the admin state of a kind and an address.
func adminValue(ctx context.Context, c *api.Client, kind api.OrderKind, address string,
	value func(*api.Order) string) (string, error) {
	list, err := c.Orders(ctx)
	for i := range list.Orders {
		if o := &list.Orders[i]; o.Kind == kind && o.Service == mixedDomain && o.Address == address {
			return value(o), err
		}
	}
	return gone, err
}
