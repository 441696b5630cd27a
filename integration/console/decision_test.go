package console_test

import (
	"fmt"
	"testing"

	"gslb.internal/integration/harness/testbed"
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
