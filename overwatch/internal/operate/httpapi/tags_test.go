package httpapi // inside: it shares world_test.go

import (
	"strings"
	"testing"

	"gslb.internal/overwatch/internal/state/definitions"
)

// POST sets tags, PUT replaces them, a PUT without tags keeps them, and tags filter the list of domains.
func TestDomainTags_AreSetAndFilter(t *testing.T) {
	w := newWorld(t)
	tagged := func(tag string) string {
		r := w.send("GET", "/api/v1/domains?tag="+tag, "")
		if r.status != 200 {
			t.Fatalf("tag %s: %d %s", tag, r.status, r.body)
		}
		return r.body
	}
	w.want("POST", w.send("POST", "/api/v1/domains", `{"name":"shop.example","tags":["team a","prod"]}`), 201,
		`"tags":["team a","prod"]`)
	if list := tagged("prod"); !strings.Contains(list, `"total":1,`) || !strings.Contains(list, `"name":"shop.example"`) {
		t.Errorf("tagged: %s", list)
	}
	if list := tagged("pro"); !strings.Contains(list, `"domains":[],"total":0,`) {
		t.Errorf("a part of a tag: %s", list)
	}
	w.send("PUT", "/api/v1/domains/shop.example", `{"ttl":9}`)
	if list := tagged("team%20a"); !strings.Contains(list, `"total":1,`) {
		t.Errorf("after a PUT without tags: %s", list)
	}
	w.send("PUT", "/api/v1/domains/shop.example", `{"tags":["new"]}`)
	if gone, there := tagged("prod"), tagged("new"); !strings.Contains(gone, `"total":0,`) ||
		!strings.Contains(there, `"tags":["new"]`) {
		t.Errorf("after a PUT with tags: %s %s", gone, there)
	}
	stored, err := definitions.Load(w.store)
	if err != nil || len(stored.Domains) != 1 || strings.Join(stored.Domains["shop.example"].Tags, ",") != "new" {
		t.Errorf("on disk: %+v, %v", stored.Domains, err)
	}
	if doc := w.send("GET", "/api/v1/document", ""); !strings.Contains(doc.body, `"tags":["new"]`) {
		t.Errorf("the document: %s", doc.body)
	}
	for body, words := range map[string]string{
		`{"tags":["a","a"]}`: "keep one",
		`{"tags":[""]}`:      "1 to 64 printable characters",
		`{"tags":["a,b"]}`:   "without commas",
		`{"tags":[" a"]}`:    "without spaces around",
		`{"tags":["` + strings.Repeat("x", 65) + `"]}`: "64",
		`{"tags":[1` + strings.Repeat(",1", 60) + `]}`: "string",
		`{"tags":"a"}`:                       "tags",
		`{"tags":["a"` + manyTags(50) + `]}`: "at most 50",
	} {
		w.wantError(body, w.send("PATCH", "/api/v1/domains/shop.example", body), 400, words)
	}
	if r := w.send("PATCH", "/api/v1/domains/shop.example", `{"tags":[]}`); !strings.Contains(r.body, `"tags":[]`) {
		t.Errorf("without tags: %s", r.body)
	}
}

func manyTags(n int) string {
	var list strings.Builder
	for i := range n {
		list.WriteString(`,"` + strings.Repeat("x", i+1) + `"`)
	}
	return list.String()
}

// health_check_id contains the id of the check of one of the domain's servers, or "" if no server has a check.
func TestHealthCheckID_NamesTheCheckOfAServer(t *testing.T) {
	w := newWorld(t)
	list, err := w.client.Domains(t.Context())
	w.must(err)
	for _, d := range list.Domains {
		if d.Name != service {
			continue
		}
		check, err := w.client.ServerHealthCheck(t.Context(), d.HealthCheckID)
		if err != nil || check.ServerID != d.HealthCheckID || d.HealthCheckID == "" {
			t.Errorf("health_check_id %q: %+v, %v", d.HealthCheckID, check, err)
		}
		return
	}
	t.Errorf("no domain %s: %+v", service, list)
}
