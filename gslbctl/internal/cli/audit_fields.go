package cli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/shared/api"
)

const (
	// maxAuditFields is the maximum number of fields of a change in the table of audit entries.
	maxAuditFields = 3
	// maxAuditValue is the maximum length of a value in the table, in characters.
	maxAuditValue = 32
)

// auditFields returns the fields that an update changed, with both values, such as "ttl 30 -> 60". For other entries it
// returns "".
func auditFields(e *api.AuditEntry) string {
	before, after := jsonFields(e.Before), jsonFields(e.After)
	if e.Resource == "overlay" {
		before, after = overlayValues(e, before), overlayValues(e, after)
	}
	if len(before) == 0 || len(after) == 0 {
		return ""
	}
	names := maps.Clone(before)
	maps.Copy(names, after)
	var list []string
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if name != "updated_at" && !bytes.Equal(before[name], after[name]) {
			list = append(list, name+" "+auditValue(before[name])+" -> "+auditValue(after[name]))
		}
	}
	if more := len(list) - maxAuditFields; more > 0 {
		list = append(list[:maxAuditFields], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(list, ", ")
}

// overlayValues returns the values in force with an overlay: its fields, and the values of the file for other fields.
func overlayValues(e *api.AuditEntry, overlay map[string]json.RawMessage) map[string]json.RawMessage {
	values := jsonFields(json.RawMessage(e.Details[api.DetailConfigured]))
	if values == nil {
		values = map[string]json.RawMessage{}
	}
	maps.Copy(values, jsonFields(overlay["fields"]))
	return values
}

// jsonFields returns the compact values of a JSON object, or nil for other JSON.
func jsonFields(object json.RawMessage) (fields map[string]json.RawMessage) {
	var compact bytes.Buffer
	if json.Compact(&compact, object) != nil || json.Unmarshal(compact.Bytes(), &fields) != nil {
		return nil
	}
	return fields
}

// auditValue returns a value for the table: text without quotes, at most maxAuditValue characters.
func auditValue(value json.RawMessage) string {
	text := string(value)
	var unquoted string
	if json.Unmarshal(value, &unquoted) == nil {
		text = unquoted
	}
	if long := []rune(text); len(long) > maxAuditValue {
		text = string(long[:maxAuditValue-3]) + "..."
	}
	return cmp.Or(text, render.None)
}
