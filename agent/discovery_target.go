package agent

import (
	"fmt"
	"net/netip"
	"slices"

	"gslb.internal/agent/internal/config"
	"gslb.internal/agent/internal/monitor"
	"gslb.internal/shared/resolve"
	"gslb.internal/shared/settings"
)

// maxAddresses is the maximum number of addresses of a target.
const maxAddresses = 32

func newBook(r config.Resolver) *resolve.Book {
	var servers []string
	for _, s := range r.Servers {
		servers = append(servers, s.String())
	}
	return resolve.NewBook(resolve.Options{Servers: servers, MinTTL: r.MinTTL, MaxTTL: r.MaxTTL, Exchange: resolve.Ask,
		Changed: func() {}}) // findTargets polls instead
}

// followTargets makes the Book resolve exactly the targets of the configuration. Existing targets keep their addresses.
func (d *discovery) followTargets() {
	before, names := d.targets, map[string]bool{}
	d.targets = map[string]*source{}
	for i := range d.config.Agent.Backends {
		b := &d.config.Agent.Backends[i]
		if b.Target == "" {
			continue
		}
		key := fmt.Sprintf("%s %s:%d", b.Service, b.Target, b.Port)
		s := before[key]
		if s == nil {
			s = &source{logger: d.logger.With().Str("service", b.Service).Str("target", b.Target).Logger()}
		}
		s.target, names[b.Target], d.targets[key] = b, true, s
	}
	d.book.Follow(names)
}

// findTargets adds new addresses of targets from the Book as pending backends. If a target cannot be resolved, its
// addresses remain.
func (d *discovery) findTargets() {
	for _, s := range d.targets {
		entry := d.book.Get(s.target.Target)
		var found []netip.Addr
		for _, a := range entry.Addresses {
			if a = a.Unmap(); settings.UnicastRemedy(a) == "" {
				found = append(found, a)
			}
		}
		switch {
		case !entry.Asked:
			continue
		case entry.Err != "":
			s.fault = entry.Err
		case len(found) == 0:
			s.fault = "it has no address where a backend may be"
		case s.fault != "" && !s.pending:
			s.fault = ""
		}
		if len(found) == 0 {
			continue
		}
		next := s.spread(found)
		if s.pending = !slices.Equal(next, s.backends); s.pending {
			s.next = next
		}
	}
}

// spread returns a backend for each address, at most maxAddresses. Addresses in use precede new addresses. The backends
// have equal parts of the target's weight, but at least 1.
func (s *source) spread(found []netip.Addr) (list []monitor.Backend) {
	inUse := func(a netip.Addr) bool {
		return slices.ContainsFunc(s.backends, func(b monitor.Backend) bool { return b.Address == a })
	}
	slices.SortFunc(found, netip.Addr.Compare)
	if found = slices.Compact(found); len(found) > maxAddresses {
		slices.SortStableFunc(found, func(a, b netip.Addr) int {
			switch was, will := inUse(a), inUse(b); {
			case was && !will:
				return -1
			case will && !was:
				return 1
			}
			return 0
		})
		found = found[:maxAddresses]
		slices.SortFunc(found, netip.Addr.Compare)
	}
	for _, a := range found {
		list = append(list, watched(s.target, a, max(1, (s.target.Weight+len(found)/2)/len(found))))
	}
	return list
}
