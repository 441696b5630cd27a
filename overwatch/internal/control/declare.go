package control

import (
	"context"
	"time"

	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/shared/wire"
)

const (
	// firstChecksTake is the maximum time that a reload waits for the first checks of the servers of new names. Healthy
	// servers respond within this time.
	firstChecksTake = time.Second
	// firstChecksAtMost is the maximum number of servers that a reload waits for, because their checks are concurrent.
	firstChecksAtMost = 1000
)

// prepareNames declares and checks the servers of new names in next, so that the first answers of new names depend on
// check results. It changes no answer.
func (p *Plane) prepareNames(ctx context.Context, next *config.Config) error {
	ahead, err := p.declareAhead(ctx, next)
	if err != nil || !next.Overwatch.Validation.Enabled || len(ahead) == 0 || len(ahead) > firstChecksAtMost {
		return err
	}
	ids := make(map[registry.ID]bool, len(ahead))
	for _, d := range ahead {
		ids[d.ID] = true
	}
	bounded, cancel := context.WithTimeout(ctx, firstChecksTake)
	defer cancel()
	// Without results, the node serves the name anyway.
	_, _ = p.o.Validator.CheckNow(bounded, func(id registry.ID) bool { return ids[id] })
	return nil
}

// declareAhead declares the servers of the new names of a configuration, and returns them.
func (p *Plane) declareAhead(ctx context.Context, next *config.Config) (ahead []registry.Declaration, err error) {
	there := make(map[string]bool)
	for _, name := range p.Domains() {
		there[wire.CanonicalService(name)] = true
	}
	coming := make(map[string]bool)
	for d := range next.AllDomains {
		if name := wire.CanonicalService(d.Name); !there[name] {
			coming[name] = true
		}
	}
	if len(coming) == 0 {
		return nil, nil
	}
	for _, d := range p.o.Targets.declarations(next) {
		if coming[wire.CanonicalService(d.ID.Service)] {
			ahead = append(ahead, d)
		}
	}
	return ahead, p.o.Registry.AddStaticDeclarations(ctx, ahead)
}
