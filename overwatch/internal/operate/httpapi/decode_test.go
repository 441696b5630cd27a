package httpapi // inside: it uses decodeObject, maxDepth and problemOf

import (
	"encoding/json"
	"strings"
	"testing"

	"gslb.internal/shared/api"
)

func TestDecodeObject_SaysWhatIsWrong(t *testing.T) {
	deep := strings.Repeat(`{"reason":`, maxDepth+1) + "1" + strings.Repeat("}", maxDepth+1)
	for name, tc := range map[string]struct{ body, want string }{
		"empty":          {"", "the body is empty: it must be a JSON object with healthy, reason, source, starts_at, expires_in"},
		"blank":          {" \n", "the body is empty"},
		"null":           {"null", "must be a JSON object"},
		"list":           {`[{"healthy":true}]`, "must be a JSON object"},
		"text":           {`"healthy"`, "must be a JSON object"},
		"two values":     {`{"healthy":true} {}`, "more follows"},
		"cut":            {`{"healthy":true`, "not usable JSON"},
		"not JSON":       {`healthy=true`, "not usable JSON"},
		"trailing comma": {`{"healthy":true,}`, "not usable JSON"},
		"invalid UTF-8":  {"{\"reason\":\"\xff\"}", "not UTF-8"},
		"deep":           {deep, "nested deeper than 16 levels"},
		"deep lists":     {strings.Repeat("[", 100_000), "nested deeper"},
		"twice":          {`{"healthy":true,"healthy":false}`, `the field "healthy" stands twice`},
		"twice inside":   {`{"reason":{"a":[{"b":1,"b":2}]}}`, `the field "b" stands twice`},
		"unknown": {`{"healthy":true,"zeal":1,"Reason":"x","alpha":[]}`,
			`unknown fields: "Reason", "alpha", "zeal"; known are healthy, reason, source, starts_at, expires_in`},
		"wrong type":       {`{"healthy":"yes"}`, `healthy is "yes": it must be true or false`},
		"number for text":  {`{"reason":5}`, "reason is 5: it must be a string"},
		"object for text":  {`{"reason":{}}`, "reason is {}: it must be a string"},
		"list for a truth": {`{"healthy":[]}`, "healthy is []: it must be true or false"},
		"null for a value": {`{"reason":null}`, "reason is null: give a value, or leave it out"},
	} {
		var req api.OverrideRequest
		err := decodeObject([]byte(tc.body), &req)
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got %v, want an error with %q", name, err, tc.want)
		}
		if p, ok := problemOf(err); !ok || p.status != 400 {
			t.Errorf("%s: %v is not the client's fault", name, err)
		}
	}
}

func TestDecodeObject_ReadsWhatIsRight(t *testing.T) {
	var req api.OverrideRequest
	body := ` {"reason" : "düsseldorf \u00fc [x] {y} \"q\"", "healthy": false} `
	if err := decodeObject([]byte(body), &req); err != nil {
		t.Fatal(err)
	}
	if req.Healthy == nil || *req.Healthy || req.Reason != `düsseldorf ü [x] {y} "q"` || req.ExpiresIn != "" {
		t.Errorf("got %+v", req)
	}
}

// FuzzDecodeObject holds that any body is either refused with a sentence or
// means the same to encoding/json without our rules.
func FuzzDecodeObject(f *testing.F) {
	for _, seed := range []string{
		`{"healthy":true,"reason":"r","source":"s","expires_in":"30m"}`, `{}`, `null`, `[]`, `{"a":{"b":[1,2,{"c":null}]}}`,
		`{"healthy":true}{}`, "\xff", `{"reason":"\ud800"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var req, plain api.OverrideRequest
		if err := decodeObject(body, &req); err != nil {
			if p, ok := problemOf(err); !ok || p.status != 400 || p.sentence == "" {
				t.Fatalf("%q: %v is not a sentence for the client", body, err)
			}
			return
		}
		if err := json.Unmarshal(body, &plain); err != nil {
			t.Fatalf("%q was accepted and is not JSON: %v", body, err)
		}
		if req.Reason != plain.Reason || (req.Healthy == nil) != (plain.Healthy == nil) || req.Source != plain.Source ||
			req.ExpiresIn != plain.ExpiresIn {
			t.Fatalf("%q: %+v, plainly %+v", body, req, plain)
		}
	})
}
