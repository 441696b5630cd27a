package overwatch

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"sync"
	"time"

	"gslb.internal/overwatch/internal/config"
	"gslb.internal/overwatch/internal/httpapi"
	"gslb.internal/overwatch/internal/publish"
	"gslb.internal/overwatch/internal/store"
	"gslb.internal/shared/settings"
)

// maxDomains bounds what the API may create.
const maxDomains = 10_000

// steering joins the domains of the file with those that the API created. What comes of it is the configuration in force.
type steering struct {
	mu      sync.Mutex // held during a reload and during a change
	file    *config.Config
	created map[string]store.Domain // by name
}

// openDomains joins the domains that the API created with those of the configuration.
func (n *node) openDomains(_ context.Context, cfg *config.Config) error {
	stored, err := n.store.LoadDomains()
	if err != nil {
		return fmt.Errorf("loading the domains that the API created: %w", err)
	}
	created := make(map[string]store.Domain, len(stored))
	for _, d := range stored {
		created[d.Name] = d
	}
	n.steering.file, n.steering.created = cfg, created
	n.inForce.Store(&inForce{n.join(cfg, nil), n.started})
	return nil
}

// join returns the configuration of a file with the domains of the API. One that the file cannot be served with is left out
// and logged: it must not keep the rest from being served.
func (n *node) join(file *config.Config, addresses []netip.Addr) *config.Config {
	joined := withDomains(file, n.steering.created)
	if len(publish.Check(dnsSettings(joined, addresses))) == 0 {
		return joined
	}
	fitting := make(map[string]store.Domain, len(n.steering.created))
	for _, name := range slices.Sorted(maps.Keys(n.steering.created)) {
		fitting[name] = n.steering.created[name]
		if problems := publish.Check(dnsSettings(withDomains(file, fitting), addresses)); len(problems) > 0 {
			delete(fitting, name)
			n.log.Error().Err(problems).Str("domain", name).Msg("a domain that the API created does not go with the configuration and is not served")
		}
	}
	return withDomains(file, fitting)
}

// withDomains adds enabled domains to those of a file, which wins where both have a name.
func withDomains(file *config.Config, created map[string]store.Domain) *config.Config {
	joined := *file
	joined.Domains = slices.Clone(file.Domains)
	named := make(map[string]bool, len(file.Domains))
	for i := range file.Domains {
		named[file.Domains[i].Name] = true
	}
	regions := make(map[string]bool, len(file.Regions))
	for i := range file.Regions {
		regions[file.Regions[i].Name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(created)) {
		if d := created[name]; d.Enabled && !named[name] {
			joined.Domains = append(joined.Domains, configured(d, regions))
		}
	}
	return &joined
}

// configured is a domain of the API as the configuration would have it, without regions that are no longer configured.
func configured(d store.Domain, regions map[string]bool) config.Domain {
	var c config.Domain
	c.SetDefaults()
	c.Name, c.TTL, c.RoutingAlgorithm = d.Name, d.TTL, d.RoutingPolicy
	for _, region := range d.Regions {
		if regions[region] {
			c.Regions = append(c.Regions, region)
		}
	}
	return c
}

// CreatedDomains implements httpapi.Domains: those that no domain of the file hides.
func (n *node) CreatedDomains() map[string]store.Domain {
	n.steering.mu.Lock()
	defer n.steering.mu.Unlock()
	visible := maps.Clone(n.steering.created)
	for i := range n.steering.file.Domains {
		delete(visible, n.steering.file.Domains[i].Name)
	}
	return visible
}

// PutDomain implements httpapi.Domains.
func (n *node) PutDomain(ctx context.Context, d store.Domain) error {
	n.steering.mu.Lock()
	defer n.steering.mu.Unlock()
	before, existed := n.steering.created[d.Name]
	if !existed && len(n.steering.created) >= maxDomains {
		return httpapi.ErrTooManyDomains
	}
	next := maps.Clone(n.steering.created)
	next[d.Name] = d
	return n.steer(ctx, next, func() error { return n.store.PutDomain(d) }, func() error {
		if existed {
			return n.store.PutDomain(before)
		}
		return n.store.DeleteDomain(d.Name)
	})
}

// DeleteDomain implements httpapi.Domains.
func (n *node) DeleteDomain(ctx context.Context, name string) error {
	n.steering.mu.Lock()
	defer n.steering.mu.Unlock()
	before := n.steering.created[name]
	next := maps.Clone(n.steering.created)
	delete(next, name)
	return n.steer(ctx, next, func() error { return n.store.DeleteDomain(name) }, func() error { return n.store.PutDomain(before) })
}

// steer puts other domains of the API into force: checked, then stored, then answered. An error leaves those before.
func (n *node) steer(ctx context.Context, created map[string]store.Domain, keep, restore func() error) error {
	addresses, err := publish.NodeAddresses(n.dns.Addrs())
	if err != nil {
		return err
	}
	joined := withDomains(n.steering.file, created)
	if problems := publish.Check(dnsSettings(joined, addresses)); len(problems) > 0 {
		return withoutKeys(problems)
	}
	wanted, err := n.settings(joined, addresses)
	if err != nil {
		return err
	}
	if err := keep(); err != nil {
		return err
	}
	if err := n.publisher.Reconfigure(ctx, wanted); err != nil {
		return errors.Join(err, restore())
	}
	n.steering.created = created
	n.inForce.Store(&inForce{joined, n.inForce.Load().since})
	return n.declare(ctx, joined)
}

// withoutKeys takes the places in a file out of problems that are not in a file.
func withoutKeys(problems settings.Problems) settings.Problems {
	bare := slices.Clone(problems)
	for i := range bare {
		bare[i].File, bare[i].Line, bare[i].Key = "", 0, ""
	}
	return bare
}

// Reload implements httpapi.Reloader: it puts what the file has now into force.
func (n *node) Reload(ctx context.Context) (changes, restart []string, err error) {
	n.steering.mu.Lock()
	defer n.steering.mu.Unlock()
	before := n.steering.file
	restart, err = n.reload(ctx)
	if err != nil {
		n.reloads.WithLabelValues(reloadFailed).Inc()
		n.log.Error().Err(err).Msg("the configuration was not reloaded; the one before stays in force")
		return nil, nil, err
	}
	n.reloads.WithLabelValues(reloadDone).Inc()
	event := n.log.Info()
	if len(restart) > 0 {
		event = event.Strs("restart_required", restart)
	}
	event.Msg("configuration reloaded")
	return differing(before, n.steering.file), restart, nil
}

// inForceNow is the configuration in force and since when, as the API asks for it.
func (n *node) inForceNow() (*config.Config, time.Time) {
	current := n.inForce.Load()
	return current.config, current.since
}
