package strictjson // inside: it uses maxDepth

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"gslb.internal/overwatch/internal/control/fault"
	"gslb.internal/shared/api"
)

func TestDecode_SaysWhatIsWrong(t *testing.T) {
	deep := strings.Repeat(`{"reason":`, maxDepth+1) + "1" + strings.Repeat("}", maxDepth+1)
	for name, tc := range map[string]struct{ body, want string }{
		"empty": {"", "the body is empty: it must be a JSON object with healthy, reason, source, starts_at, " +
			"expires_in"},
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
		err := Decode([]byte(tc.body), &req)
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got %v, want an error with %q", name, err, tc.want)
		}
		if e, ok := errors.AsType[*fault.Error](err); !ok || e.Kind != fault.Invalid {
			t.Errorf("%s: %v is not the client's fault", name, err)
		}
	}
}

func TestDecode_ReadsWhatIsRight(t *testing.T) {
	var req api.OverrideRequest
	body := ` {"reason" : "düsseldorf \u00fc [x] {y} \"q\"", "healthy": false} `
	if err := Decode([]byte(body), &req); err != nil {
		t.Fatal(err)
	}
	if req.Healthy == nil || *req.Healthy || req.Reason != `düsseldorf ü [x] {y} "q"` || req.ExpiresIn != "" {
		t.Errorf("got %+v", req)
	}
}

// FuzzDecode checks that each body is rejected with a text, or has the same meaning for encoding/json without
// additional rules.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{"healthy":true,"reason":"r","source":"s","expires_in":"30m"}`, `{}`, `null`, `[]`,
		`{"a":{"b":[1,2,{"c":null}]}}`,
		`{"healthy":true}{}`, "\xff", `{"reason":"\ud800"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var req, plain api.OverrideRequest
		if err := Decode(body, &req); err != nil {
			if e, ok := errors.AsType[*fault.Error](err); !ok || e.Kind != fault.Invalid || e.Text == "" {
				t.Fatalf("%q: %v is not a rejection for the client", body, err)
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

func TestCountElements_CountsElementsOfLists(t *testing.T) {
	for text, want := range map[string]int{
		`{}`: 0, `{"a":[]}`: 0, `{"a":[ ],"b":[ {} ]}`: 1, `{"a":[{},{}],"b":[1,"x,y",[3,4],null]}`: 6,
		`{"a":{"b":1,"c":[1,2]},"d":[{"e":[1,2,3]}]}`: 1, `{"a":["\"",",]["]}`: 2, `[1,2]`: 0,
	} {
		if got := CountElements([]byte(text)); got != want {
			t.Errorf("%s has %d elements, want %d", text, got, want)
		}
	}
}
