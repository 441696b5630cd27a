package apidoc_test

import (
	"bytes"
	"flag"
	"os"
	"testing"

	"gslb.internal/overwatch/internal/operate/apidoc"
	"gslb.internal/overwatch/internal/operate/httpapi"
)

var update = flag.Bool("update", false, "write openapi.json and the page about the API anew")

// The document that httpapi serves, held against the types, their comments and the table of operations.
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
