package cli // inside: it shares fake_test.go

import (
	"strings"
	"testing"

	"gslb.internal/gslbctl/internal/fleet"
)

// The question before a destructive command names the cluster that the command would change.
func TestPrompt_NamesTheCluster(t *testing.T) {
	n := startNode(t)
	sys, _ := atHome(t, map[string]string{fleet.EnvContext: ""})
	for _, name := range []string{"prod", "lab"} {
		call(t, sys, []*node{n}, "context", "set", name, "--api", documented(0))
	}
	remove := []string{"domains", "remove", "app.example.com"}
	lab, _ := atHome(t, nil)
	byEnvironment := sys
	byEnvironment.Getenv = func(key string) string {
		if key == fleet.EnvContext {
			return "lab"
		}
		return sys.Getenv(key)
	}
	for name, c := range map[string]struct {
		sys   func() result
		words string
	}{
		"current": {func() result { return call(t, sys, []*node{n}, remove...) }, "context prod: removing app"},
		"flag": {func() result { return call(t, sys, []*node{n}, append(remove, "--context", "lab")...) },
			"context lab: removing app"},
		"environment": {func() result { return call(t, byEnvironment, []*node{n}, remove...) }, "context lab: removing"},
		"nodes": {func() result { return call(t, sys, []*node{n}, append(remove, "--api", documented(0))...) },
			"node http://" + documented(0) + ": removing app"},
		"none": {func() result { return call(t, lab, []*node{n}, remove...) }, "node http://127.0.0.1:8080: removing"},
	} {
		if r := c.sys(); r.code != 2 || !strings.Contains(r.errors, c.words) {
			t.Errorf("%s: %+v, want %q", name, r, c.words)
		}
	}
	sys.Asks, sys.In = true, strings.NewReader("n\n")
	r := call(t, sys, []*node{n}, remove...)
	if !strings.HasPrefix(r.errors, "context prod: removing app.example.com ends all answers") ||
		!strings.Contains(r.errors, "Continue? [y/N]") || len(n.changes()) > 0 {
		t.Errorf("the question: %+v", r)
	}
	if r := call(t, sys, nil, "context", "delete", "lab"); strings.Contains(r.errors, "context prod:") {
		t.Errorf("a question about this machine: %+v", r)
	}
}
