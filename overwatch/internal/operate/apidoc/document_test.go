package apidoc_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"testing"

	"gslb.internal/overwatch/internal/operate/apidoc"
	"gslb.internal/overwatch/internal/operate/httpapi"
)

var update = flag.Bool("update", false, "write openapi.json and the page about the API anew")

// The served document matches the types, their comments and the table of operations.
func TestDocument_IsWhatTheCodeSays(t *testing.T) {
	const served = "../httpapi/openapi.json"
	made, err := apidoc.Document([]string{"../../../../shared/api", "../../../../shared/model"}, httpapi.Operations())
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(served, made, 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	found, err := os.ReadFile(served)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(made, found) {
		t.Error("openapi.json is not what the code says: go test ./internal/operate/apidoc -update")
	}
}

// A domain has an owner in a document. A request about one domain cannot set it.
func TestDocument_OnlyDocumentsSetAnOwner(t *testing.T) {
	made, err := apidoc.Document([]string{"../../../../shared/api", "../../../../shared/model"}, httpapi.Operations())
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Components struct {
			Schemas map[string]struct{ Properties map[string]any }
		}
	}
	if err := json.Unmarshal(made, &doc); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"DomainChange": false, "DocumentDomain": true} {
		schema := doc.Components.Schemas[name]
		if _, has := schema.Properties["owner"]; has != want || schema.Properties["max_answers"] == nil {
			t.Errorf("%s has an owner: %t, want %t; its fields: %v", name, has, want, schema.Properties)
		}
	}
}
