package api_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

// officialSchema is the module from which the JSON schema of OpenAPI 3.1 that the OpenAPI Initiative publishes can be
// had through the Go module proxy alone: a library has it among its files.
const officialSchema = "github.com/pb33f/libopenapi@v0.42.3"

// apiDocument is the document that a node serves.
type apiDocument struct {
	raw      any
	compiler *jsonschema.Compiler
	paths    map[string]map[string]any
}

const documentURL = "https://gslb.example/openapi.json"

// documentOf reads the document of a node. So that a field that is not described shows, objects of answers may have no
// others than the described ones here.
func documentOf(t *testing.T, n *harness.Node) *apiDocument {
	t.Helper()
	status, body := fetch(t, n, http.MethodGet, "/api/v1/openapi.json", "")
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

// object walks down the objects of a JSON value.
func object(v any, path ...string) map[string]any {
	o, _ := v.(map[string]any)
	for _, key := range path {
		o, _ = o[key].(map[string]any)
	}
	return o
}

// fetch makes a request of a node and returns the status and the body.
func fetch(t *testing.T, n *harness.Node, method, path, body string) (int, []byte) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, "http://"+n.API.String()+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, text
}

// check holds an answer against what the document says of it. path is one of the document.
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

// The document is what the OpenAPI Initiative calls one, and its examples are what its schemas say.
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
	text, err := os.ReadFile(filepath.Join(module.Dir, "datamodel", "schemas", "oas31-schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
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

// Every GET of the document, asked of a node that has something to say, and some changes, answer as the document says.
func TestOpenAPI_AnswersAreAsDescribed(t *testing.T) {
	s := testbed.StartSite(t, 1, 2)
	n := s.Nodes[0]
	d := documentOf(t, n)
	backend := s.Backends[0].At
	id := fmt.Sprintf("%s:%s", testbed.AppName, backend)
	healthy := true
	if _, err := n.Client.SetOverride(t.Context(), testbed.AppName, backend.String(),
		api.OverrideRequest{Healthy: &healthy, Reason: "test"}); err != nil {
		t.Fatal(err)
	}
	values := map[string]string{
		"{name}": testbed.AppName, "{service}": testbed.AppName, "{address}": backend.Addr().String(),
		"{port}": fmt.Sprint(backend.Port()), "{agent_id}": "agent-1", "{cidr}": "192.0.2.0/24",
	}
	ids := map[string]string{
		"servers": id, "regions": "eu", "overwatch": "ow-1", "agent": "agent-1", "gossip": "ow-1", "audit-logs": "1",
		"metrics/nodes": "agent-1", "metrics/regions": "eu", "algorithms": "weighted", "decisions": "0-1",
	}
	good := 0
	for path, item := range d.paths {
		target := path
		for name, value := range values {
			target = strings.ReplaceAll(target, name, value)
		}
		if strings.HasPrefix(path, "/api/v1/overrides/{") {
			target = "/api/v1/overrides/" + testbed.AppName + "/" + backend.String()
		}
		for part, value := range ids {
			if strings.Contains(path, part+"/{id}") || strings.Contains(path, part+"/nodes/{id}") {
				target = strings.ReplaceAll(target, "{id}", value)
			}
		}
		if strings.HasSuffix(path, "/geo/test") {
			target += "?ip=192.0.2.7"
		}
		if strings.HasSuffix(path, "/routing/answers") {
			target += "?domain=" + testbed.AppName
		}
		if item["get"] != nil {
			status, body := fetch(t, n, http.MethodGet, target, "")
			if status < 300 {
				good++
			} else if status != http.StatusNotFound {
				t.Errorf("GET %s: %d %s", target, status, body)
			}
			if err := d.check(http.MethodGet, path, status, body); err != nil {
				t.Error(err)
			}
		}
		// an empty object is refused or changes nothing
		for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodPatch} {
			if item[strings.ToLower(method)] != nil && !strings.Contains(path, "reload") {
				status, body := fetch(t, n, method, target, "{}")
				if err := d.check(method, path, status, body); err != nil {
					t.Error(err)
				}
			}
		}
	}
	if good < 40 {
		t.Errorf("%d of the answers were good", good)
	}
}
