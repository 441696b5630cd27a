package cli // inside: it shares fake_test.go

import (
	"strings"
	"testing"
)

func TestGossipGenerateKey_PrintsTheKeyAloneSoThatAScriptCanTakeIt(t *testing.T) {
	n := startNode(t)
	r := call(t, System{}, []*node{n}, "--api", n.url, "gossip", "generate-key")
	if r.code != 0 || r.out != "a2V5\n" || r.errors != "" {
		t.Errorf("got %+v", r)
	}
	if asked := n.changes(); len(asked) != 1 || asked[0] != "POST /api/v1/gossip/generate-key" {
		t.Errorf("asked %q", asked)
	}
}

func TestServersCheck_ShowsHowAServerIsChecked(t *testing.T) {
	n := startNode(t)
	r := call(t, System{}, []*node{n}, "--api", n.url, "servers", "check", "app.example.com:192.0.2.12:443")
	if r.code != 0 || r.errors != "" || len(n.changes()) != 0 ||
		!strings.Contains(r.out, "yes      http  /up   5s     1s ") {
		t.Errorf("got %+v after %q", r, n.changes())
	}
}
