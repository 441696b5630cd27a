package console_test

import (
	"testing"

	"gslb.internal/shared/api"
)

// Events and the audit log have filters that are part of the URL. The audit log compares the fields of a change, and
// the charts have a selected time.
func TestConsole_FiltersEventsAndComparesChanges(t *testing.T) {
	t.Parallel()
	s, p := newScene(t), newPage(t)
	node := s.nodes[0]
	startAlone(t, node)
	if _, err := node.Client.ChangeDomain(t.Context(), shopName, api.DomainChange{"ttl": 30}); err != nil {
		t.Fatal(err)
	}
	p.open(node.Client.Node(), "events")
	p.reads("main", "node ow-eu started", shopName)
	p.fill("select[name=kind]", "node")
	p.wait("the filter in the URL", "location.hash === '#/events/node'")
	const events = "[...document.querySelectorAll('.event')]"
	p.wait("events of the node", events+".length > 0 && "+events+".every((e) => e.innerText.includes('node'))")
	p.fill("input[name=text]", "no such event")
	p.reads("main", "No event matches the filters.")
	p.open(node.Client.Node(), "events///error")
	p.wait("events of a severity", "document.querySelector('select[name=severity]').value === 'error'")

	p.open(node.Client.Node(), "audit")
	p.wait("the actor", `[...document.querySelectorAll('select[name=actors] option')].
		some((o) => o.value === '127.0.0.1')`)
	p.fill("select[name=actors]", "127.0.0.1")
	p.wait("the actor in the URL", "location.hash === '#/audit//////127.0.0.1'")
	p.click("button[aria-label^='Show entry']")
	p.reads("dialog", "Before and after")
	p.reads("dialog .diff", "ttl", "30")
	p.click("dialog header button")

	p.open(node.Client.Node(), "overview")
	p.reads("[aria-labelledby=day]", "Last 24 hours")
	p.click("[aria-labelledby=day] .choice button:nth-child(4)")
	p.reads("[aria-labelledby=day]", "Last 7 days")
	p.wait("the time in UTC on hover", "/ UTC/.test(document.querySelector('.recent time').title)")
}
