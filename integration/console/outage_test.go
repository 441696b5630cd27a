package console_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"

	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

// In a total outage, any two values on the screen agree: the charts, bars, counters, the map and the conditions have
// the state of the API, and no name without an answer is called degraded.
func TestConsole_ContradictsNothingInATotalOutage(t *testing.T) {
	t.Parallel()
	s, p := startScene(t), newPage(t)
	node := s.nodes[0]
	if _, err := node.Client.DrainServer(t.Context(), fmt.Sprintf("%s:%s", shopName, s.backends[0].At),
		api.DrainRequest{Duration: "1s", Reason: "new kernel"}); err != nil {
		t.Fatal(err)
	}
	p.open(node.Client.Node(), "overview")
	p.agrees("the overview before the outage", func(ctx context.Context) error { return p.compareOverview(ctx, node) })
	for _, b := range s.backends {
		testbed.Kill(t, b)
	}
	testbed.Until(t, hang, "the end of all answers", func(ctx context.Context) error {
		stats, err := node.Client.Stats(ctx)
		if err == nil && stats.ServingBackends+stats.HealthyBackends > 0 {
			err = fmt.Errorf("%d backends serve, %d are healthy", stats.ServingBackends, stats.HealthyBackends)
		}
		return err
	})
	p.agrees("the overview", func(ctx context.Context) error { return p.compareOverview(ctx, node) })
	p.reads("h1", "no answer for 3 names")
	p.open(node.Client.Node(), "names")
	p.agrees("the names", func(ctx context.Context) error { return p.compareNames(ctx, node, "names") })
	p.open(node.Client.Node(), "names/"+shopName)
	p.agrees("the page of a name", func(ctx context.Context) error { return p.compareName(ctx, node, shopName) })
	p.open(node.Client.Node(), "map/eu")
	p.agrees("the map", func(ctx context.Context) error { return p.compareMap(ctx, node) })
	p.open(node.Client.Node(), "agents")
	p.agrees("the agents", func(ctx context.Context) error { return p.compareAgents(ctx, node) })
}

// shown runs an expression in the page and decodes its JSON into a value.
func (p *page) shown(expression string, into any) error {
	var text string
	if err := chromedp.Run(p.ctx, chromedp.Evaluate("JSON.stringify("+expression+")", &text)); err != nil {
		return err
	}
	return json.Unmarshal([]byte(text), into)
}

// rowsOf is an expression: the texts of the cells of a table, by its caption, with each row by its first cell.
func rowsOf(caption string) string {
	return fmt.Sprintf(`Object.fromEntries([...document.querySelectorAll('[aria-label="Table: %s"] tbody tr')].map((r) =>
		[...r.cells].map((c) => c.innerText.replace(/\s+/g, ' ').trim())).map((cells) => [cells[0], cells]))`, caption)
}

// agrees waits until the displayed values equal the values of the API.
func (p *page) agrees(what string, compare func(context.Context) error) {
	p.t.Helper()
	testbed.Until(p.t, hang, what+" to agree with the API", func(ctx context.Context) error {
		if err := compare(ctx); err != nil {
			return fmt.Errorf("%w\n%s", err, p.text())
		}
		return nil
	})
}

// differ is an error if a displayed value is not the value of the API.
func differ(what, shown, want string) error {
	if shown != want {
		return fmt.Errorf("%s: the page shows %q, the API has %q", what, shown, want)
	}
	return nil
}
