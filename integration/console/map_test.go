package console_test

import (
	"net/http"
	"testing"
	"time"

	"gslb.internal/shared/api"
)

// The map zooms. A click on a line selects the region of the clients, with the names that send them to another region,
// and the reasons of backends that do not serve.
func TestConsole_MapZoomsAndGivesReasons(t *testing.T) {
	t.Parallel()
	_, f, p := fronted(t)
	f.answers("/api/v1/routing/flows", func() (int, any) {
		flows := []api.RoutingFlow{{Domain: webName, SourceRegion: "eu", DestinationRegion: "us", RequestCount: 10}}
		return http.StatusOK, api.RoutingFlowList{Flows: flows, Total: 1, GeneratedAt: time.Now()}
	})
	f.answers("/api/v1/overwatch/backends", func() (int, any) {
		down := api.Backend{ID: webName + ":192.0.2.1:80", Service: webName, Address: "192.0.2.1", Port: 80, Region: "eu",
			EffectiveStatus: api.EffectiveUnhealthy, Reason: "the agent reports unhealthy"}
		return http.StatusOK, api.BackendList{Backends: []api.Backend{down}, Total: 1, GeneratedAt: time.Now()}
	})
	p.open(f.URL, "map")
	p.wait("a click on the line", `(() => { const e = document.querySelector('.flow');
		return e && e.dispatchEvent(new MouseEvent('click', {bubbles: true})); })()`)
	p.reads("[aria-labelledby=chosen]", "us", "100.0%", "by "+webName, "0 of 1 serve", "the agent reports unhealthy")
	p.click("button[aria-label='Zoom in']")
	p.wait("half of the map", "document.querySelector('.map svg').viewBox.baseVal.width === 500")
	p.axe("map with a zoom")
	p.click("button[aria-label='Zoom out']")
	p.wait("the whole map", "document.querySelector('.map svg').viewBox.baseVal.width === 1000")
}
