package replication_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

// receiver is a webhook that verifies requests with the library of Standard Webhooks.
type receiver struct {
	*httptest.Server
	mu       sync.Mutex
	messages []message
}

// message is the part of a notification that the tests compare.
type message struct {
	Type string
	Data struct {
		ID, Node string
		Events   []api.Event
	}
}

func newReceiver(t *testing.T) *receiver {
	r := &receiver{}
	verifier, err := standardwebhooks.NewWebhook(testbed.WebhookSecret)
	if err != nil {
		t.Fatal(err)
	}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		var m message
		text, err := io.ReadAll(req.Body)
		if err = errors.Join(err, verifier.Verify(text, req.Header), json.Unmarshal(text, &m)); err != nil ||
			req.Header.Get("webhook-id") != m.Data.ID {
			t.Errorf("%v: %s %v", err, text, req.Header)
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.messages = append(r.messages, m)
	}))
	t.Cleanup(r.Close)
	return r
}

// told returns the nodes that sent a notification of a state of a backend, one entry per message. The loss of a region
// includes the backends of the region.
func (r *receiver) told(b *harness.Backend, state string) (nodes []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, m := range r.messages {
		if slices.ContainsFunc(m.Data.Events, func(e api.Event) bool {
			return e.Kind == api.EventBackend && e.State == state && strings.Contains(e.Subject, b.At.String()) ||
				e.Kind == api.EventRegion && e.State == "lost" && strings.Contains(e.Sentence, b.At.String())
		}) {
			nodes = append(nodes, m.Data.Node)
		}
	}
	return nodes
}

func (r *receiver) awaits(t *testing.T, b *harness.Backend, state string) (node string) {
	t.Helper()
	testbed.Until(t, time.Minute, b.Name+" to be told as "+state, func(context.Context) error {
		nodes := r.told(b, state)
		if len(nodes) == 0 {
			return errors.New("it is not")
		}
		node = nodes[0]
		return nil
	})
	return node
}

// quiet waits until nodes have detected a state of a backend and no notification is pending.
func quiet(t *testing.T, b *harness.Backend, state string, nodes ...*harness.Node) {
	t.Helper()
	for _, n := range nodes {
		testbed.Until(t, time.Minute, n.Name+" to have nothing to tell", func(ctx context.Context) error {
			list, err := n.Client.Events(ctx, nil)
			if err == nil && !slices.ContainsFunc(list.Events, func(e api.Event) bool {
				return e.State == state && strings.Contains(e.Subject, b.At.String())
			}) {
				err = fmt.Errorf("it has not seen %s %s", b.Name, state)
			}
			if err != nil {
				return err
			}
			targets, err := n.Client.Notifications(ctx)
			if err == nil && targets.Targets[0].Queued > 0 {
				err = fmt.Errorf("%+v", targets.Targets[0])
			}
			return err
		})
	}
}

// If both nodes detect a state, only one of them sends a notification. If this node is killed, the other node sends it.
func TestNotifications_OneNodeTellsAndAnotherWhenItIsKilled(t *testing.T) {
	r := newReceiver(t)
	s := testbed.NewSite(t, 2, 2)
	for i, n := range s.Nodes {
		n.File.Overwatch.DNSSEC.KeySync = &harness.KeySync{PollInterval: testbed.SyncPoll, Timeout: 2 * time.Second,
			Secret: secret, Peers: []string{"http://" + s.Nodes[1-i].API.String()}}
		n.File.Overwatch.Replication.Enabled = true
	}
	testbed.Notify("webhook", r.URL, s.Nodes...)
	s.StartPrograms(t)
	for _, n := range s.Nodes {
		testbed.Until(t, time.Minute, n.Name+" to reach the other", func(ctx context.Context) error {
			status, err := n.Client.Replication(ctx)
			if err == nil && (len(status.Peers) != 1 || !status.Peers[0].Connected) {
				err = fmt.Errorf("%+v", status)
			}
			return err
		})
	}
	first, second := s.Backends[0], s.Backends[1]
	kill(t, first.Unit)
	teller := r.awaits(t, first, "unhealthy")
	quiet(t, first, "unhealthy", s.Nodes...)
	if nodes := r.told(first, "unhealthy"); len(nodes) != 1 {
		t.Fatalf("told by %v", nodes)
	}
	left := s.Nodes[0]
	if left.Name == teller {
		left = s.Nodes[1]
	}
	for _, n := range s.Nodes {
		if n != left {
			kill(t, n.Unit)
		}
	}
	kill(t, second.Unit)
	if node := r.awaits(t, second, "unhealthy"); node != left.Name {
		t.Errorf("told by %s, not %s", node, left.Name)
	}
}

func kill(t *testing.T, u *harness.Unit) {
	t.Helper()
	testbed.Kill(t, u)
}
