package api_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// schemaFields lists the fields of a schema of the OpenAPI document in the format of row.shape, without their types.
// "list[].field" is a field of every element. A field with nested fields is represented only by the nested fields.
func schemaFields(document any, schema map[string]any, prefix string, into map[string]bool) {
	if ref, ok := schema["$ref"].(string); ok {
		schema = object(document, strings.Split(strings.TrimPrefix(ref, "#/"), "/")...)
	}
	for _, way := range []string{"anyOf", "oneOf", "allOf"} {
		alternatives, _ := schema[way].([]any)
		for _, one := range alternatives {
			schemaFields(document, object(one), prefix, into)
		}
	}
	if items := object(schema, "items"); items != nil {
		before := len(into)
		if schemaFields(document, items, prefix+"[]", into); len(into) > before {
			return
		}
	}
	properties := object(schema, "properties")
	for name, property := range properties {
		path := strings.TrimPrefix(prefix+"."+name, ".")
		before := len(into)
		if schemaFields(document, object(property), path, into); len(into) == before {
			into[path] = true
		}
	}
}

// promised contains the fields that the rows of the contract name for an operation: fields of successful answers and of
// request bodies.
type promised struct {
	answer, body map[string]bool
}

// sharesWith returns the operation whose rows an operation shares: PUT and PATCH of a path have equal bodies and
// answers.
func sharesWith(operation string) string { return strings.Replace(operation, "PATCH ", "PUT ", 1) }

// promises collects the rows by operation.
func promises(t *testing.T, rows []row) map[string]promised {
	t.Helper()
	all := map[string]promised{}
	for _, r := range rows {
		operation := sharesWith(r.operation)
		p, known := all[operation]
		if !known {
			p = promised{map[string]bool{}, map[string]bool{}}
			all[operation] = p
		}
		if r.status < 300 {
			for _, field := range strings.Fields(r.shape) {
				name, _, _ := strings.Cut(field, ":")
				p.answer[name] = true
			}
		}
		if strings.HasPrefix(r.body, "{") {
			var body map[string]any
			if err := json.Unmarshal([]byte(r.body), &body); err != nil {
				t.Errorf("%s %s: %v", r.operation, r.body, err)
			}
			bodyFields(body, "", p.body)
		}
	}
	return all
}

// bodyFields lists the fields of a body in the format of schemaFields, including fields with nested fields.
func bodyFields(body map[string]any, prefix string, into map[string]bool) {
	for name, value := range body {
		into[prefix+name] = true
		switch inner := value.(type) {
		case map[string]any:
			bodyFields(inner, prefix+name+".", into)
		case []any:
			for _, one := range inner {
				if element, ok := one.(map[string]any); ok {
					bodyFields(element, prefix+name+"[].", into)
				}
			}
		}
	}
}

// checkFields compares the fields of every answer and body in the OpenAPI document of the node with the fields in the
// rows.
func checkFields(t *testing.T, document any, rows []row) {
	t.Helper()
	all := promises(t, rows)
	for path, methods := range object(document, "paths") {
		for method, operation := range object(methods) {
			name := strings.ToUpper(method) + " " + path
			if name == "POST /api/v1/dnssec/sync" || strings.HasPrefix(name, "POST /api/v1/dnssec/rollover/{zone}/") &&
				!strings.HasSuffix(name, "sign") {
				continue // which need another node and time: see the tests of key synchronisation and of rolls
			}
			if strings.Contains(name, " /api/v1/tokens") || name == "GET /api/v1/whoami" {
				continue // they require a token in the file: see TestTokens_Contract
			}
			answer, body := map[string]bool{}, map[string]bool{}
			for status, response := range object(operation, "responses") {
				if strings.HasPrefix(status, "2") {
					schemaFields(document, object(response, "content", "application/json", "schema"), "", answer)
				}
			}
			schemaFields(document, object(operation, "requestBody", "content", "application/json", "schema"), "", body)
			rows := all[sharesWith(name)]
			for what, fields := range map[string][2]map[string]bool{"answer": {answer, rows.answer}, "body": {body, rows.body}} {
				var missing []string
				for _, field := range slices.Sorted(maps.Keys(fields[0])) {
					// Only nodes with peers have "replication": see the tests in ../replication.
					top, _, _ := strings.Cut(field, ".")
					if !fields[1][field] && top != "replication" {
						missing = append(missing, field)
					}
				}
				if len(missing) > 0 {
					t.Errorf("%s: no row promises of its %s: %s", name, what, fmt.Sprint(missing))
				}
			}
		}
	}
}
