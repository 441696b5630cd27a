package overwatch // inside: it uses node

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/health/restore"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
	"gslb.internal/shared/check"
	"gslb.internal/shared/model"
)

// server creates, changes or removes a server of the API.
func (h *chronicle) server() string {
	id := h.id()
	made := model.Server{Service: id.Service, Address: id.Address, Port: id.Port, Weight: 1 + h.random.IntN(4),
		Region: pick(h.random, []string{"eu", "us"}), Agent: h.named()}
	made.HealthCheck = model.HealthCheckOf(h.node.state.Config().CheckIn(made.Region))
	_, known := h.model.backends[id]
	_, ours := h.model.servers[id]
	switch {
	case ours && h.flip():
		h.must(applyServers(h.t.Context(), h.node, []model.Server{made}))
	case ours:
		h.must(applyServers(h.t.Context(), h.node, nil, id))
		delete(h.model.servers, id)
		return "remove " + id.String()
	case known:
		if applyServers(h.t.Context(), h.node, []model.Server{made}) == nil {
			h.t.Errorf("%s was created beside the one that is there", id)
		}
		return "create once more " + id.String()
	default:
		h.must(applyServers(h.t.Context(), h.node, []model.Server{made}))
	}
	h.model.servers[id] = declared{made.Weight, made.Region, made.Agent}
	return fmt.Sprintf("create %s with weight %d", id, made.Weight)
}

// applyServers stores servers of the API and deletes others.
func applyServers(ctx context.Context, n *node, puts []model.Server, gone ...registry.ID) error {
	return n.servers.Apply(ctx, puts, gone, func(a definitions.Attached) error {
		var b store.Batch
		a.Store(&b)
		return errors.Join(n.store.Write(&b), a.Declare(ctx), a.Withdraw(ctx))
	})
}

func (h *chronicle) override() string {
	id := h.id()
	if len(h.model.orders) > 0 && h.flip() { // another state of the same address
		other := pick(h.random, h.model.orders)
		id = registry.ID{Service: other.service, Address: other.address, Port: 80}
	}
	o := refOrder{service: id.Service, address: id.Address, port: id.Port, healthy: h.flip()}
	if h.random.IntN(3) == 0 {
		o.port = 0
	}
	if h.flip() {
		o.expires = h.model.now.Add(40 * time.Second)
	}
	if h.flip() {
		cleared := h.node.registry.ClearAdminState(h.t.Context(), api.OrderOverride, o.service, o.address, o.port) == nil
		if cleared != slices.ContainsFunc(h.model.orders, o.about) {
			h.t.Errorf("clearing the order about %s: %v", id, cleared)
		}
		h.model.orders = slices.DeleteFunc(h.model.orders, o.about)
		h.must(h.node.store.DeleteOrder(api.OrderOverride, o.service, o.endpoint()))
		return fmt.Sprintf("clear the order about %s:%d of %s", o.address, o.port, o.service)
	}
	err := h.node.registry.SetAdminState(h.t.Context(), registry.AdminState{Kind: api.OrderOverride, Service: o.service,
		Address: o.address, Port: o.port, Healthy: o.healthy, ExpiresAt: o.expires})
	if err == nil {
		h.model.orders = append(slices.DeleteFunc(h.model.orders, o.about), o)
		stored := store.Order{Kind: api.OrderOverride, Service: o.service, Address: o.endpoint(), Healthy: o.healthy}
		if !o.expires.IsZero() {
			stored.ExpiresAt = &o.expires
		}
		h.must(h.node.store.PutOrder(stored))
	}
	return fmt.Sprintf("order %s:%d of %s healthy=%v until %v: %v", o.address, o.port, o.service, o.healthy, o.expires,
		err)
}

func (h *chronicle) drain() string {
	id := h.id()
	o := registry.AdminState{Kind: api.OrderDrain, Service: id.Service, Address: id.Address, Port: id.Port}
	if h.random.IntN(3) == 0 {
		err := h.node.registry.ClearAdminState(h.t.Context(), o.Kind, o.Service, o.Address, o.Port)
		if (err == nil) != (h.model.ordered[id] != nil) {
			h.t.Errorf("ending the drain of %s: %v", id, err)
		}
		delete(h.model.ordered, id)
		h.must(h.node.store.DeleteOrder(o.Kind, o.Service, o.Endpoint()))
		return "end the drain of " + id.String()
	}
	d := newDrain(id.Service, pick(h.random, historyTimes), h.model.now, h.drainTime)
	o.Duration, o.CreatedAt = d.over, d.since
	if h.model.backends[id] != nil { // package changes rejects drains of unknown backends
		h.must(h.node.registry.SetAdminState(h.t.Context(), o))
		h.model.ordered[id] = d
		h.must(h.node.store.PutOrder(restore.Order(o)))
	}
	return fmt.Sprintf("drain %s over %v", id, d.over)
}

// define makes some changes of API objects in one call. Most changes are of the same kind, and most objects are
// domains.
func (h *chronicle) define() string {
	kinds := []func(*definitions.Draft) string{h.domain, h.domain, h.domain, h.place, h.place, h.mapping, h.setting}
	if h.flip() {
		kinds = []func(*definitions.Draft) string{pick(h.random, kinds)}
	}
	changes := make([]func(*definitions.Draft) string, 1+h.random.IntN(4))
	for i := range changes {
		changes[i] = pick(h.random, kinds)
	}
	return h.together(changes...)
}

// together makes changes of API objects in one call.
func (h *chronicle) together(changes ...func(*definitions.Draft) string) string {
	var events []string
	h.must(h.node.control.Define(nil, func(draft *definitions.Draft) error {
		for _, change := range changes {
			events = append(events, change(draft))
		}
		return nil
	}))
	h.judgeNew()
	return strings.Join(events, ", ")
}

// free returns the name of a domain, preferably a name that the file does not contain.
func (h *chronicle) free() string {
	name := pick(h.random, historyNames)
	for range 5 {
		if slices.ContainsFunc(h.model.file.domains, func(d domainFacts) bool { return d.name == name }) {
			name = pick(h.random, historyNames)
		}
	}
	return name
}

// domain creates, changes or deletes a domain of the API.
func (h *chronicle) domain(draft *definitions.Draft) string {
	name := h.free()
	if _, there := h.model.domains[name]; there && h.flip() {
		draft.Delete(model.KindDomain, name)
		delete(h.model.domains, name)
		return "delete " + name
	}
	return h.put(draft, name, pick(h.random, h.algorithms), h.random.IntN(4) > 0)
}

// put defines a random domain with the given algorithm, within the limits of the API.
func (h *chronicle) put(draft *definitions.Draft, name, algorithm string, enabled bool) string {
	d := h.randomDomain(name, algorithm)
	d.threshold, d.maxAnswers, d.onAllDown, d.disabled = 1, 1, "", !enabled
	d.smoothing, d.slowest, d.samples = 0.3, 500*time.Millisecond, 3
	made := newDomain(name, d.regions...)
	made.TTL, made.RoutingAlgorithm, made.FallbackAlgorithm = d.ttl, d.algorithm, d.fallback
	made.MinHealthy, made.Enabled, made.ToleranceKm = d.minHealthy, enabled, d.tolerance
	draft.Put(made)
	h.model.domains[name] = d
	return fmt.Sprintf("define %+v", d)
}

// learning makes a domain of the API use latency until it has enough measurements, and may restart the measurements.
func (h *chronicle) learning() string {
	name := h.free()
	var events []string
	follow := func(algorithm string) {
		events = append(events, h.together(func(draft *definitions.Draft) string {
			return h.put(draft, name, algorithm,
				true)
		}))
		h.model.settle()
	}
	follow("latency")
	events = append(events, h.measure(check.Success, slices.Repeat(idsOf(name), 3)))
	time.Sleep(2 * time.Second)
	h.model.advance(2 * time.Second)
	if h.flip() {
		follow("weighted")
		follow("latency")
	}
	return strings.Join(events, ", ")
}

// mapping sets or removes the region of a client through the API.
func (h *chronicle) mapping(draft *definitions.Draft) string {
	client := h.random.IntN(historyClients)
	network := netip.PrefixFrom(clientAddress(client), 32)
	if h.model.mappings[client] != "" {
		draft.Delete(model.KindMapping, network.String())
		delete(h.model.mappings, client)
		return fmt.Sprintf("client %d is mapped no more", client)
	}
	region := pick(h.random, append([]string{"eu"}, historyPlaces...))
	draft.Put(&model.Mapping{CIDR: network, Region: region})
	h.model.mappings[client] = region
	return fmt.Sprintf("client %d is in %q", client, region)
}

// historyPlaces are the regions of the API. The file contains some of them, and hides the regions of the API.
var historyPlaces = []string{"us", "sa", "af", "oc", "an"}

// place creates, changes or deletes a region of the API.
func (h *chronicle) place(draft *definitions.Draft) string {
	name := pick(h.random, historyPlaces)
	if _, there := h.model.places[name]; there && h.random.IntN(5) == 0 {
		draft.Delete(model.KindRegion, name)
		delete(h.model.places, name)
		return "delete the region " + name
	}
	r := h.randomRegion(name, historyCountries[1:], historyContinents)
	r.countries = append(r.countries, historyCountries[0])
	r.priority, r.disabled = h.random.IntN(3), h.random.IntN(4) == 0
	made := &model.Region{Name: name, Countries: r.countries, Enabled: !r.disabled, Priority: r.priority,
		RoutingAlgorithm: r.pool, ProximityBias: r.bias}
	if r.continent != "" {
		made.Continents = []string{r.continent}
	}
	if r.at != nil {
		made.Latitude, made.Longitude = &r.at.latitude, &r.at.longitude
	}
	draft.Put(made)
	h.model.places[name] = r
	return fmt.Sprintf("define the region %+v", r)
}

// setting changes settings of the API, which replace the settings of the file.
func (h *chronicle) setting(draft *definitions.Draft) string {
	m := h.model
	ttl, last, interval := m.defaultTTL(), m.lastHealthyDefault(), m.interval()
	section := pick(h.random, []string{definitions.DNS, definitions.HealthCheck})
	if section == definitions.DNS {
		ttl, last = pick(h.random, []int{20, 30}), h.flip()
	} else {
		interval = pick(h.random, []time.Duration{10 * time.Second, 30 * time.Second})
	}
	wanted := definitions.View(section, draft.File())
	switch w := wanted.(type) {
	case *api.DNSConfig:
		w.DefaultTTL, w.ReturnLastHealthy = ttl, last
	case *api.HealthCheckConfig:
		w.DefaultIntervalSeconds = interval.Seconds()
	}
	h.must(draft.PutSection(section, wanted))
	if section == definitions.DNS {
		m.over.ttl, m.over.returnLastHealthy = unlike(ttl, m.file.ttl), unlike(last, m.file.returnLastHealthy)
	} else {
		m.over.interval = unlike(interval, m.file.interval)
	}
	return fmt.Sprintf("settings: default TTL %d, last healthy %v, checks every %v", ttl, last, interval)
}

func unlike[T comparable](wanted, file T) *T {
	if wanted == file {
		return nil
	}
	return &wanted
}
