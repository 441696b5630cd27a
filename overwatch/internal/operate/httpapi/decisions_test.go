package httpapi // inside: it shares routing_test.go

import (
	"fmt"
	"net/netip"
	"net/url"
	"testing"
	"time"

	"gslb.internal/overwatch/internal/answer/decisions"
	"gslb.internal/overwatch/internal/answer/zone"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/shared/api"
)

// answeredWorld returns a world with two answers of geo.test to a client in us, one to a client in eu, and one answer
// of down.test.
func answeredWorld(t *testing.T) *world {
	t.Helper()
	view := steeredBy(t, someBackends{
		"geo.test":  {backendAt("10.0.0.1:443", "eu", nil), backendAt("10.0.0.3:443", "us", nil)},
		"down.test": {backendAt("10.0.0.9:1", "eu", func(b *registry.Backend) { b.MayServe = false })},
	}, config.Domain{Name: "geo.test", RoutingAlgorithm: "geolocation", Regions: []string{"us", "eu"}, TTL: 60,
		MaxAnswers: 1},
		config.Domain{Name: "down.test", RoutingAlgorithm: "weighted"})
	recorder := decisions.New(1, nil)
	socket, turns := recorder.NewSocketRecorder(), zone.NewRotations(1, 1)
	for _, asked := range [][2]string{{"geo.test", "192.0.2.7"}, {"geo.test", "192.0.2.8"}, {"geo.test", "198.51.100.1"},
		{"down.test", "2001:db8:1:2::3"}} {
		client := netip.MustParseAddr(asked[1])
		began := socket.StartSample()
		p, err := view().Probe(asked[0], zone.ParseProbeType("A"), client, turns)
		if err != nil {
			t.Fatal(err)
		}
		socket.RecordAnswer(began, &p.Selection, client)
	}
	places := view().RegionTable
	return newWorld(t, func(o *Options) { o.DNSView, o.Decisions, o.Places = view, recorder, places })
}

func (w *world) decisions(query string) (api.RoutingDecisionList, []string) {
	w.t.Helper()
	q, err := url.ParseQuery(query)
	w.must(err)
	list, err := w.client.RoutingDecisions(w.t.Context(), q)
	w.must(err)
	var lines []string
	for _, d := range list.Decisions {
		lines = append(lines, fmt.Sprintf("%s %s from %s in %q to %s in %q: %s", d.Domain, d.QueryType, d.ClientSubnet,
			d.ClientRegion, d.SelectedServer, d.SelectedRegion, d.Outcome))
	}
	return list, lines
}

func TestRoutingDecisions_AreListedNewestFirstAndFiltered(t *testing.T) {
	w := answeredWorld(t)
	list, lines := w.decisions("")
	want := []string{
		`down.test A from 2001:db8:1::/48 in "eu" to  in "": no_healthy_backend`,
		`geo.test A from 198.51.100.0/24 in "eu" to 10.0.0.1:443 in "eu": success`,
		`geo.test A from 192.0.2.0/24 in "us" to 10.0.0.3:443 in "us": success`,
		`geo.test A from 192.0.2.0/24 in "us" to 10.0.0.3:443 in "us": success`,
	}
	if fmt.Sprint(lines) != fmt.Sprint(want) || list.Total != 4 || list.Limit != 100 ||
		list.Decisions[0].Generation == 0 || list.Decisions[0].Algorithm != "weighted" {
		t.Errorf("%+v", list)
	}
	future := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	for query, want := range map[string]int{
		"domain=GEO.test.": 3, "algorithm=weighted": 1, "region=us": 2, "outcome=no_healthy_backend": 1,
		"outcome=fallback": 0, "limit=1&offset=3": 4,
		"start_time=" + future: 0, "end_time=" + future: 4, "domain=geo.test&region=EU": 1,
	} {
		if list, _ := w.decisions(query); list.Total != want {
			t.Errorf("%s: %d, want %d", query, list.Total, want)
		}
	}
	for query, words := range map[string]string{"outcome=fine": "outcome", "algorithm=chance": "algorithm",
		"start_time=now": "start_time", "colour=red": "unknown",
		"start_time=" + future + "&end_time=2020-01-01T00:00:00Z": "end_time"} {
		w.wantError(query, w.send("GET", "/api/v1/routing/decisions?"+query, ""), 400, words)
	}
}

func TestRoutingDecision_IsExplainedFromWhatWasKnownThen(t *testing.T) {
	w := answeredWorld(t)
	list, _ := w.decisions("region=us&limit=1")
	explained, err := w.client.ExplainDecision(t.Context(), list.Decisions[0].ID)
	w.must(err)
	r := explained.Result
	if r.ClientIP != "192.0.2.0/24" || r.ClientRegion != "us" || r.LocatedBy != "custom_mapping" ||
		r.SelectedBackend == nil || r.SelectedBackend.Address != "10.0.0.3" ||
		len(r.Excluded) != 1 || r.Decision != api.RoutingSuccess || r.TTL != 60 ||
		!r.Timestamp.Equal(list.Decisions[0].Timestamp) {
		t.Errorf("%+v", r)
	}
	w.wantError("none of that id", w.send("GET", "/api/v1/routing/decisions/0-99", ""), 404, "0-99")
	w.wantError("no id", w.send("GET", "/api/v1/routing/decisions/x", ""), 404, "sampled")
}

func TestRoutingFlows_SayFromWhereToWhere(t *testing.T) {
	w := answeredWorld(t)
	flows := func(query string) string {
		q, err := url.ParseQuery(query)
		w.must(err)
		list, err := w.client.RoutingFlows(t.Context(), q)
		w.must(err)
		text := fmt.Sprint(list.Total, list.Uncounted)
		for _, f := range list.Flows {
			text += fmt.Sprintf(" %s:%s>%s=%d/%.2f", f.Domain, f.SourceRegion, f.DestinationRegion, f.RequestCount, f.Share)
		}
		return text
	}
	for query, want := range map[string]string{
		"": "2 0 geo.test:us>us=2/0.67 geo.test:eu>eu=1/0.33", "source_region=us": "1 0 geo.test:us>us=2/1.00",
		"dest_region=mars": "0 0", "domain=geo.test&limit=1": "2 0 geo.test:us>us=2/0.67",
	} {
		if got := flows(query); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	w.wantError("an unknown filter", w.send("GET", "/api/v1/routing/flows?source=eu", ""), 400, "source_region")
}
