package console_test

import (
	"fmt"
	"testing"
	"time"

	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

// The page of a name shows the decision as a picture: lines from the clients of each region to the serving backends. A
// backend that does not serve has a reason and no line.
func TestConsole_ShowsTheDecisionAsAPicture(t *testing.T) {
	t.Parallel()
	s, p := startScene(t), newPage(t)
	p.open(s.nodes[0].Client.Node(), "names/"+shopName)
	const lines = "document.querySelectorAll('.decision .flow').length"
	p.wait("a line to each backend of the region of the clients", lines+" === 7") // no region and eu: 2 each, us: 2, asia
	testbed.Kill(t, s.backends[4])
	p.wait("the clients of asia in another region", fmt.Sprintf(
		"[...document.querySelectorAll('.decision text.bad')].some((e) => e.textContent.includes('%s') && "+
			"e.textContent.includes('does not serve: '))", s.backends[4].At))
	p.wait("no line to the failed backend", lines+" === 8")
}

// An outage of one second is visible in a bar of 24 hours: it is at least 3 pixels wide, and has the color of the worst
// state at its place.
func TestConsole_ShowsAnOutageOfASecond(t *testing.T) {
	t.Parallel()
	_, f, p := fronted(t)
	began := lasting(shopName, time.Now().Add(-time.Hour))
	ended := began
	ended.Sequence, ended.Time, ended.State, ended.Phase = 2, began.Time.Add(time.Second), "answered", api.PhaseEnds
	milder := began // at the same place, and later
	milder.Sequence, milder.Time, milder.State, milder.Severity = 3, ended.Time, "degraded", api.EventWarning
	over := milder
	over.Sequence, over.Time, over.State, over.Phase = 4, ended.Time.Add(time.Second), "answered", api.PhaseEnds
	f.answersQuery("/api/v1/events", eventsOf(began, ended, milder, over))
	p.open(f.URL, "names/"+shopName)
	p.wait("both spans, the worst on top", `(() => {
		const spans = [...document.querySelectorAll('.track .outage')].filter((r) => {
			const x = r.x.baseVal.value;
			return x > 1375 && x < 1385;
		});
		const style = (r) => getComputedStyle(r);
		return spans.length === 2 && spans.every((r) => parseFloat(style(r).strokeWidth) >= 3 &&
			style(r).vectorEffect === 'non-scaling-stroke' && style(r).stroke === style(r).fill) &&
			spans[0].style.fill === 'var(--warn)' && spans[1].style.fill === 'var(--bad)';
	})()`)
}
