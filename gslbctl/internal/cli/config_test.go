package cli

import "testing"

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
