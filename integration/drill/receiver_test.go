package drill_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

// receiver is the webhook of the on-call operators. It verifies each message with the library of Standard Webhooks.
type receiver struct {
	*httptest.Server
	mu       sync.Mutex
	messages []message
}

// message is a notification with the time of its arrival.
type message struct {
	at   time.Time
	Type string
	Data struct {
		ID, Node string
		Events   []api.Event
	}
}

func startReceiver(t *testing.T) *receiver {
	t.Helper()
	verifier, err := standardwebhooks.NewWebhook(testbed.WebhookSecret)
	if err != nil {
		t.Fatal(err)
	}
	r := &receiver{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
		m := message{at: time.Now()}
		text, err := io.ReadAll(req.Body)
		if err = errors.Join(err, verifier.Verify(text, req.Header), json.Unmarshal(text, &m)); err != nil {
			t.Errorf("a message of %q: %v", text, err)
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.messages = append(r.messages, m)
	}))
	t.Cleanup(r.Close)
	return r
}

// since returns the messages that arrived at a time or later.
func (r *receiver) since(from time.Time) (list []message) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, m := range r.messages {
		if !m.at.Before(from) {
			list = append(list, m)
		}
	}
	return list
}
