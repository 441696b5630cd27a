package cli // inside: it shares fake_test.go

import (
	"strings"
	"testing"
)

// why explains the answer of a name as routing test does, and also a decision. why and routing why are equal.
func TestWhy_ExplainsANameOrADecision(t *testing.T) {
	n := startNode(t)
	test := ask(t, "routing test app.example.com --client 203.0.113.7", n)
	decision := ask(t, "routing why 0-2", n)
	for line, want := range map[string]result{
		"why app.example.com --client 203.0.113.7":         test,
		"routing why app.example.com --client 203.0.113.7": test,
		"why local --ecs 203.0.113.0/24":                   test,
		"why 0-2":                                          decision,
	} {
		if got := ask(t, line, n); got.code != 0 || got != want {
			t.Errorf("%s: got %+v, want %+v", line, got, want)
		}
	}
	if sent := strings.Join(n.changes(), "\n"); !strings.Contains(sent, `{"domain":"local","client_ip":"203.0.113.0"`) {
		t.Errorf("sent %s", sent)
	}
}
