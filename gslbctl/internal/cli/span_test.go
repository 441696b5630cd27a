package cli // inside: it shares fake_test.go

import (
	"strings"
	"testing"

	"gslb.internal/gslbctl/internal/cmdline"
)

func TestSpan_DaysReachTheNode(t *testing.T) {
	for args, sent := range map[string]string{
		"overrides set app.example.com 192.0.2.11:443 --healthy=false --reason r --expires-in " +
			"1d": `"expires_in":"24h0m0s"`,
		"servers drain app.example.com:192.0.2.12:443 --over 1d2h": `{"duration":"26h0m0s"}`,
	} {
		n := startNode(t)
		r := ask(t, args, n)
		if list := n.changes(); r.code != 0 || len(list) != 1 || !strings.Contains(list[0], sent) {
			t.Errorf("%s: %+v, sent %q", args, r, list)
		}
	}
	r := call(t, cmdline.System{}, nil, "overrides", "set", "a", "b", "--expires-in", "1day")
	if r.code != 2 || !strings.Contains(r.errors, "30s, 5m or 1d") {
		t.Errorf("%+v", r)
	}
}
