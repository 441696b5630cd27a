package testbed

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"gslb.internal/integration/harness"
)

// Said returns nil if a line in the last output of a program contains all words, in any letter case.
func Said(u *harness.Unit, words ...string) error {
	for _, l := range u.Output() {
		line := strings.ToLower(l.Text)
		if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(line, strings.ToLower(w)) }) {
			return nil
		}
	}
	return fmt.Errorf("no line of %s has all of %q", u.Name, words)
}

// ToldBound is the promised time until an action of a program is in its log and its metrics. Both may follow the other
// effects of the action.
const ToldBound = 5 * time.Second

// Tells waits until a line in the output of a program contains all words.
func Tells(t *testing.T, u *harness.Unit, words ...string) {
	t.Helper()
	Until(t, ToldBound, u.Name+" to say so", func(context.Context) error { return Said(u, words...) })
}

// Counts waits until at least one of the metrics of a node is above 0.
func Counts(t *testing.T, n *harness.Node, what string, names ...string) {
	t.Helper()
	Until(t, ToldBound, n.Name+" to count "+what, func(context.Context) error {
		for _, name := range names {
			if Metric(t, n, name) > 0 {
				return nil
			}
		}
		return fmt.Errorf("%q is 0", names)
	})
}

// ComesTo waits until a metric of a node has a value.
func ComesTo(t *testing.T, n *harness.Node, name string, want float64) {
	t.Helper()
	Until(t, ToldBound, fmt.Sprintf("%s of %s to be %v", name, n.Name, want), func(context.Context) error {
		if got := Metric(t, n, name); got != want {
			return fmt.Errorf("it is %v", got)
		}
		return nil
	})
}

// Tell sends a command to a backend, such as /unhealthy (see cmd/backend).
func Tell(t *testing.T, b *harness.Backend, order string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), Patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+b.At.String()+order, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Close = true // an open connection may belong to a previous process of the backend
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("%s answers %s", order, resp.Status)
	}
}
