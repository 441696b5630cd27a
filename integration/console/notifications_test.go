package console_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"gslb.internal/integration/harness/testbed"
)

// The settings list the receivers of notifications, send a test message, and show the response of the receiver.
func TestConsole_SendsATestToATarget(t *testing.T) {
	t.Parallel()
	s, p := newScene(t), newPage(t)
	node := s.nodes[0]
	var broken atomic.Bool
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if broken.Load() {
			w.WriteHeader(http.StatusTeapot)
		}
	}))
	defer receiver.Close()
	testbed.Notify("webhook", receiver.URL, node)
	testbed.Start(t, node)
	testbed.Until(t, hang, "the node to list its target", func(ctx context.Context) error {
		_, err := node.Client.Notifications(ctx)
		return err
	})
	p.open(node.Client.Node(), "settings")
	p.reads("[aria-labelledby=notifications]", "webhook", "nothing sent yet")
	p.click("[aria-labelledby=notifications] td.act button")
	p.reads("[aria-labelledby=notifications] .notice.good", "the test was taken")
	broken.Store(true)
	p.click("[aria-labelledby=notifications] td.act button")
	p.reads("[aria-labelledby=notifications] .notice.bad", "418")
}
