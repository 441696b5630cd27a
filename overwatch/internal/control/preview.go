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

// Preview returns the view after a change of the API's definitions, with the given backends, for the names for which
// wanted returns true. It has no side effects and signs no answers. If the change cannot be served, the error is of
// type settings.Problems.
func (p *Plane) Preview(change func(*definitions.Draft) error, backends publish.Backends,
	wanted func(name string) bool) (*zone.View, error) {
	joined, err := p.drafted(change)
	if err != nil {
		return nil, err
	}
	return p.viewOf(joined, true, backends, wanted)
}

// Draft calls make with a draft of the current definitions, and discards the draft.
func (p *Plane) Draft(make func(*definitions.Draft) error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return make(p.set.Edit(p.shown.Load().base, p.file, p.names))
}

// drafted returns the configuration after a change.
func (p *Plane) drafted(change func(*definitions.Draft) error) (*config.Config, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	draft := p.set.Edit(p.shown.Load().base, p.file, p.names)
	if err := change(draft); err != nil {
		return nil, err
	}
	next := draft.Set()
	served := p.left.remaining(p.set, next).removeFrom(next, p.file)
	base, err := served.Over(p.file)
	if err != nil {
		return nil, err
	}
	return served.Join(base, p.names), nil
}

// Proposed is a parsed configuration file that is not applied.
type Proposed struct {
	// Changes and Restart are the keys that differ from the active file: keys that a reload applies, and keys that require
	// a restart.
	Changes, Restart []string
	// Config is the file joined with the API's definitions.
	Config *config.Config
}

// Propose reads the text of a configuration as a reload would read its file. The text must be complete in itself.
// Faults are of type settings.Problems.
func (p *Plane) Propose(text string) (Proposed, error) {
	file, err := config.LoadText(text, checkAnswers)
	if err != nil {
		return Proposed{}, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	joined, over, _ := p.join(file, p.set, nil)
	before := p.shown.Load().base
	return Proposed{Changes: settings.Changed(before, over, settings.Live),
		Restart: settings.Changed(p.running, over, settings.Restart), Config: joined}, nil
}

// PreviewFile is Preview for another configuration file.
func (p *Plane) PreviewFile(proposed Proposed, backends publish.Backends, wanted func(name string) bool) (*zone.View,
	error) {
	return p.viewOf(proposed.Config, false, backends, wanted)
}

// viewOf returns the view of a configuration. Settings that only a restart changes keep their current values.
// refuseMixed is as in publish.Settings.
func (p *Plane) viewOf(cfg *config.Config, refuseMixed bool, backends publish.Backends,
	wanted func(name string) bool) (*zone.View, error) {
	settings.KeepRunning(p.running, cfg)
	next, err := p.previewed(cfg)
	if err != nil {
		return nil, err
	}
	next.RefuseMixed, next.RefuseOmitted, next.Omitted = refuseMixed, refuseMixed, p.o.Publisher.Omitted()
	problems := publish.Check(next)
	if len(problems) > 0 && refuseMixed && p.mixed() { // a change may leave an already mixed state
		next.RefuseMixed = false
		problems = publish.Check(next)
	}
	if len(problems) > 0 {
		return nil, withoutKeys(problems)
	}
	next.Records = nil // the view is for load-balanced names
	unwanted := func(d config.Domain) bool { return !wanted(d.Name) }
	next.Domains = slices.DeleteFunc(slices.Clone(next.Domains), unwanted)
	next.Defined = slices.DeleteFunc(slices.Clone(next.Defined), unwanted)
	side, err := publish.New(publish.Options{
		Settings: next, Backends: backends, Latencies: p.o.Publisher.Latencies(),
		Failbacks:  publish.ForPreview(p.o.Failbacks),
		Registerer: prometheus.NewRegistry(), Logger: zerolog.Nop(),
	})
	if err != nil {
		return nil, err
	}
	return side.View(), nil
}

// mixed reports whether an active zone has domains with dnssec_enabled: false and other domains.
func (p *Plane) mixed() bool {
	inForce := DNSSettings(p.Config().WithRecords(nil), nil)
	inForce.RefuseMixed = true
	return len(publish.Check(inForce)) > 0
}

// previewed returns the DNS settings of a configuration, with the table of clients' places.
func (p *Plane) previewed(cfg *config.Config) (publish.Settings, error) {
	addresses, err := publish.NodeAddresses(p.o.Listening())
	if err != nil {
		return publish.Settings{}, err
	}
	wanted := DNSSettings(cfg, addresses)
	p.mu.Lock()
	defer p.mu.Unlock()
	wanted.Places, err = p.geography.preview(cfg)
	return wanted, err
}
