package console_test

import (
	"context"
	"fmt"
	"testing"

	"gslb.internal/integration/harness/testbed"
)

// The settings of a name have a form from the description of the API. The form shows the consequences of a change
// and saves it after another click.
func TestConsole_EditsTheSettingsOfAName(t *testing.T) {
	t.Parallel()
	s, p := startScene(t), newPage(t)
	node := s.nodes[0]
	p.open(node.Client.Node(), "names/"+apiName)
	p.click(fmt.Sprintf("button[aria-label='Edit %s']", apiName))
	p.wait("no change yet", "document.querySelector('dialog footer button')?.disabled")
	p.fill("dialog [name=ttl]", "17")
	p.fill("dialog [name=routing_algorithm]", "failover")
	p.click("dialog footer button")
	p.reads("dialog .diff", "ttl", "17", "weighted", "failover")
	p.reads("dialog li", "becomes "+s.backends[0].At.Addr().String())
	if d, err := node.Client.Domain(t.Context(), apiName); err != nil || d.Domain.TTL != 5 {
		t.Fatalf("the unsaved change: %v, %+v", err, d.Domain)
	}
	p.axe("edit dialog")
	p.click("dialog footer button")
	p.wait("the dialog to close", "!document.querySelector('dialog')")
	p.reads(".summary", "failover", "TTL 17 s")
	testbed.Until(t, hang, "the change", func(ctx context.Context) error {
		d, err := node.Client.Domain(ctx, apiName)
		if err == nil && (d.Domain.TTL != 17 || d.Domain.RoutingAlgorithm != "failover") {
			err = fmt.Errorf("it is %+v", d.Domain)
		}
		return err
	})
	p.click(fmt.Sprintf("button[aria-label='Edit %s']", apiName))
	p.fill("dialog [name=max_answers]", "0")
	p.wait("the browser to reject the value", "!document.querySelector('dialog form').checkValidity()")
	p.open(node.Client.Node(), "settings")
	p.click("button[aria-label='Edit DNS']")
	p.fill("dialog [name=negative_ttl]", "44")
	p.click("dialog footer button")
	p.reads("dialog .diff", "negative_ttl", "44")
	p.click("dialog footer button")
	p.reads("[aria-labelledby=section-config-dns]", "44", "the API")
}
