package cli // inside: it calls auditFields

import (
	"encoding/json"
	"strings"
	"testing"

	"gslb.internal/shared/api"
)

// The table of audit entries has the values before and after an update. Without an overlay, the values of the file were
// in force.
func TestAuditFields(t *testing.T) {
	long := `"` + strings.Repeat("x", 50) + `"`
	for _, c := range []struct{ name, resource, before, after, configured, want string }{
		{"first overlay", "overlay", `null`, `{"fields":{"ttl":60},"by":"ops"}`, `{"ttl":30}`, "ttl 30 -> 60"},
		{"second overlay", "overlay", `{"fields":{"ttl":60}}`, `{"fields":{"ttl":90}}`, `{"ttl":30}`, "ttl 60 -> 90"},
		{"deleted overlay", "overlay", `{"fields":{"ttl":60}}`, `null`, `{"ttl":30}`, "ttl 60 -> 30"},
		{"overlay of an old node", "overlay", `null`, `{"fields":{"ttl":60}}`, "", ""},
		{"domain", "domain", `{"ttl":30,"updated_at":"a","description":""}`,
			`{"updated_at":"b", "ttl":60, "description":"shop"}`, "", "description - -> shop, ttl 30 -> 60"},
		{"creation", "domain", `null`, `{"ttl":30}`, "", ""},
		{"many fields", "domain", `{"a":1,"b":1,"c":1,"d":1,"e":1}`, `{"a":2,"b":2,"c":2,"d":2,"e":2}`, "",
			"a 1 -> 2, b 1 -> 2, c 1 -> 2, and 2 more"},
		{"long value", "domain", `{"a":1}`, `{"a":` + long + `}`, "", "a 1 -> " + strings.Repeat("x", 29) + "..."},
		{"no objects", "config", ``, ``, "", ""},
	} {
		e := api.AuditEntry{Resource: c.resource, Before: json.RawMessage(c.before), After: json.RawMessage(c.after),
			Details: map[string]string{api.DetailConfigured: c.configured}}
		if got := auditFields(&e); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
