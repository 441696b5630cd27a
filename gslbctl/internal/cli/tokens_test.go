package cli // inside: it shares fake_test.go

import (
	"slices"
	"strings"
	"testing"
)

// A secret is created on one node only, even if the nodes do not replicate: each node would create another secret.
func TestTokens_SecretsComeFromOneNode(t *testing.T) {
	for line, want := range map[string]string{
		"tokens create ci --role operate --scope-zones a.example,b.example --scope-actions read": `POST /api/v1/tokens  ` +
			`{"name":"ci","role":"operate","scope":{"actions":["read"],"zones":["a.example","b.example"]}}`,
		"tokens rotate external-dns --overlap 1h": `POST /api/v1/tokens/external-dns/rotate  {"overlap":"1h0m0s"}`,
	} {
		first, second := startNode(t), startNode(t)
		r := ask(t, line, first, second)
		if r.code != 0 || !strings.HasSuffix(r.out, ":\ngslb_secret\n") {
			t.Errorf("%s: %+v", line, r)
		}
		if got := first.changes(); !slices.Equal(got, []string{want}) || len(second.changes()) > 0 {
			t.Errorf("%s: sent %q and %q", line, got, second.changes())
		}
	}
}
