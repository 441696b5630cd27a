package publish // inside: it uses decidedAtOnce

import (
	"context"
	"fmt"
	"testing"

	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/state/config"
)

// interrupted is a registry that calls the function at during one of its queries.
type interrupted struct {
	*backends
	asked, when int
	at          func()
}

func (i *interrupted) Service(name string) []*registry.Backend {
	if i.asked++; i.asked == i.when {
		i.at()
	}
	return i.backends.Service(name)
}

// While settings with many names are applied, answers follow a health change immediately. Answers also follow a health
// change after the new settings are current, whether the name was decided before or after the change.
func TestReconfigure_AChangeOfHealthDoesNotWaitForIt(t *testing.T) {
	const names = 4 * decidedAtOnce
	name := func(i int) string { return fmt.Sprintf("n%04d.gslb.test", i) }
	s, b := testSettings(), new(backends)
	for i := range names {
		s.Domains = append(s.Domains, config.Domain{Name: name(i), RoutingAlgorithm: "weighted", TTL: 10})
		b.set(name(i), "10.0.0.1")
	}
	stop := &interrupted{backends: b}
	p := newPublisher(t, b, s)
	p.backends = stop
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- p.Run(ctx) }()
	defer func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()

	// The order of decisions is random, so some of these names have been decided and others have not.
	changed := []int{0, names / 3, names / 2, names - 1}
	before := p.View()
	visible := 0
	stop.when = names / 2
	stop.at = func() {
		for _, i := range changed {
			b.set(name(i), "10.0.0.2")
			p.Mark(name(i))
		}
		stop.when = stop.asked + decidedAtOnce + len(changed) + 2
		stop.at = func() {
			for _, i := range changed {
				if p.View() == before && ask(before, name(i)+".", "A") == name(i)+". 10 IN A 10.0.0.2" {
					visible++
				}
			}
		}
	}
	s.Domains = append(s.Domains, config.Domain{Name: "more.gslb.test", RoutingAlgorithm: "weighted", TTL: 10})
	s.DNS.DefaultTTL++ // changes the decision of all names
	if err := p.Reconfigure(t.Context(), s, nil); err != nil {
		t.Fatal(err)
	}
	if visible != len(changed) {
		t.Errorf("%d of %d changes were in the answers before the new settings came into force", visible, len(changed))
	}
	if p.View() == before {
		t.Error("the settings did not come into force")
	}
	for _, i := range changed {
		wantAnswer(t, p, name(i)+".", "A", name(i)+". 10 IN A 10.0.0.2")
	}
	wantAnswer(t, p, "more.gslb.test.", "A", "SERVFAIL")
}
