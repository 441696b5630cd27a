package control

import (
	"slices"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/answer/publish"
	"gslb.internal/overwatch/internal/answer/zone"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/shared/settings"
)

// Preview returns the view that would answer for the names that wanted accepts, after a change of what the API has
// defined and with the backends that are given. Nothing changes, and nothing is signed. What cannot be served is
// settings.Problems.
func (p *Plane) Preview(change func(*definitions.Draft) error, backends publish.Backends,
	wanted func(name string) bool) (*zone.View, error) {
	next, err := p.previewed(change)
	if err != nil {
		return nil, err
	}
	if problems := publish.Check(next); len(problems) > 0 {
		return nil, withoutKeys(problems)
	}
	unwanted := func(d config.Domain) bool { return !wanted(d.Name) }
	next.Domains = slices.DeleteFunc(slices.Clone(next.Domains), unwanted)
	next.Defined = slices.DeleteFunc(slices.Clone(next.Defined), unwanted)
	side, err := publish.New(publish.Options{
		Settings: next, Backends: backends, Latencies: p.o.Publisher.Latencies(),
		Registerer: prometheus.NewRegistry(), Logger: zerolog.Nop(),
	})
	if err != nil {
		return nil, err
	}
	return side.View(), nil
}

// previewed returns the settings of DNS after a change.
func (p *Plane) previewed(change func(*definitions.Draft) error) (publish.Settings, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	draft := p.set.Edit(p.shown.Load().base, p.file, p.names)
	if err := change(draft); err != nil {
		return publish.Settings{}, err
	}
	next := draft.Set()
	base, err := next.Over(p.file)
	if err != nil {
		return publish.Settings{}, err
	}
	joined := next.Join(base, p.names)
	settings.KeepRunning(p.running, joined)
	addresses, err := publish.NodeAddresses(p.o.Listening())
	if err != nil {
		return publish.Settings{}, err
	}
	wanted := DNSSettings(joined, addresses)
	wanted.Places, err = p.geography.preview(joined)
	return wanted, err
}
