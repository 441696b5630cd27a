package api_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/testbed"
)

// officialSchema is a module that contains the official JSON schema of OpenAPI 3.1, so that the schema is available
// through the Go module proxy.
const officialSchema = "github.com/pb33f/libopenapi@v0.42.3"

// apiDocument is the document that a node serves.
type apiDocument struct {
	raw      any
	compiler *jsonschema.Compiler
	paths    map[string]map[string]any
}

const documentURL = "https://gslb.example/openapi.json"

// documentOf reads the document of a node. It forbids additional fields in the objects of answers, so that undescribed
// fields are detected.
func documentOf(t *testing.T, n *harness.Node) *apiDocument {
	t.Helper()
	status, body := request(t, n, http.MethodGet, "/api/v1/openapi.json", "")
	if status != http.StatusOK {
		t.Fatalf("openapi.json: %d", status)
	}
	raw, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	d := &apiDocument{raw: raw, compiler: jsonschema.NewCompiler(), paths: map[string]map[string]any{}}
	strict, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for _, schema := range object(strict, "components", "schemas") {
		if o := object(schema); o["properties"] != nil {
			o["additionalProperties"] = false
		}
	}
	if err := d.compiler.AddResource(documentURL, strict); err != nil {
		t.Fatal(err)
	}
	for path, item := range object(raw, "paths") {
		d.paths[path] = object(item)
	}
	return d
}

// object returns the object at a path of keys in a JSON value.
func object(v any, path ...string) map[string]any {
	o, _ := v.(map[string]any)
	for _, key := range path {
		o, _ = o[key].(map[string]any)
	}
	return o
}

// check compares an answer with its description in the document. path is a path of the document.
func (d *apiDocument) check(method, path string, status int, body []byte) error {
	pointer := "/paths/" + strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D").Replace(path) + "/" +
		strings.ToLower(method) + "/responses/" + fmt.Sprint(status)
	response := object(d.paths[path], strings.ToLower(method), "responses", fmt.Sprint(status))
	if response == nil {
		return fmt.Errorf("%s %s answered %d, which the document does not have: %s", method, path, status, body)
	}
	if ref, shared := response["$ref"].(string); shared {
		pointer = strings.TrimPrefix(ref, "#")
		response = object(d.raw, "components", "responses", ref[strings.LastIndexByte(ref, '/')+1:])
	}
	if object(response, "content", "application/json") == nil {
		if len(body) > 0 && response["content"] == nil {
			return fmt.Errorf("%s %s answered %d with a body, which the document does not have", method, path, status)
		}
		return nil
	}
	schema, err := d.compiler.Compile(documentURL + "#" + pointer + "/content/application~1json/schema")
	if err != nil {
		return err
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	if err := schema.Validate(value); err != nil {
		return fmt.Errorf("%s %s answered %d: %w", method, path, status, err)
	}
	return nil
}

// The document is valid for the official schema, and its examples are valid for its own schemas.
func TestOpenAPI_TheServedDocumentIsValid(t *testing.T) {
	s := testbed.StartSite(t, 1, 1)
	d := documentOf(t, s.Nodes[0])
	schema := compileOfficial(t)
	if err := schema.Validate(d.raw); err != nil {
		t.Errorf("the document is not OpenAPI 3.1: %v", err)
	}
	examples := 0
	for path, item := range d.paths {
		for method, operation := range item {
			for status, response := range object(operation, "responses") {
				example, has := object(response, "content", "application/json")["example"]
				if !has {
					continue
				}
				examples++
				text, err := json.Marshal(example)
				if err != nil {
					t.Fatal(err)
				}
				var code int
				_, _ = fmt.Sscan(status, &code)
				if err := d.check(method, path, code, text); err != nil {
					t.Errorf("example: %v", err)
				}
			}
		}
	}
	if examples < 50 {
		t.Errorf("%d examples were found", examples)
	}
}

func compileOfficial(t *testing.T) *jsonschema.Schema {
	t.Helper()
	var module struct{ Dir string }
	if err := json.Unmarshal(testbed.GoCommand(t, "mod", "download", "-json", officialSchema), &module); err != nil {
		t.Fatal(err)
	}
	text := testbed.Read(t, filepath.Join(module.Dir, "datamodel", "schemas", "oas31-schema.json"))
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("https://spec.openapis.org/oas/3.1/schema/2022-10-07", value); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("https://spec.openapis.org/oas/3.1/schema/2022-10-07")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}
