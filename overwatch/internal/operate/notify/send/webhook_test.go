package send_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"gslb.internal/overwatch/internal/operate/notify/send"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/shared/api"
	"gslb.internal/shared/settings"
)

// receiver answers and stores one request.
type receiver struct {
	*httptest.Server
	status  int
	headers map[string]string
	got     http.Header
	body    string
}

func newReceiver(t *testing.T) *receiver {
	r := &receiver{status: 204}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		text, _ := io.ReadAll(req.Body)
		r.got, r.body = req.Header, string(text)
		for name, value := range r.headers {
			w.Header().Set(name, value)
		}
		w.WriteHeader(r.status)
	}))
	t.Cleanup(r.Close)
	return r
}

func newSender(t *testing.T, c config.NotificationTarget) send.Sender {
	t.Helper()
	s, err := send.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// aMessage is a constant test message.
var aMessage = send.Message{ID: "id1", Key: "name a.example", Severity: api.EventWarning, Cluster: "gslb", Node: "ow-1",
	Time:   time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC),
	Events: []api.Event{{Sequence: 7, Kind: api.EventBackend, State: "unhealthy", Sentence: "b1 is <down>"}}, More: 2}

// The signature equals the one that the test computes according to the specification.
func TestWebhook_SignsWhatItSends(t *testing.T) {
	r := newReceiver(t)
	key := []byte("an octet string of 32 octets....")
	secret := settings.Secret("whsec_" + base64.StdEncoding.EncodeToString(key))
	s := newSender(t, config.NotificationTarget{URL: settings.Secret(r.URL + "/x"), Secret: secret})
	if err := s.Send(t.Context(), aMessage); err != nil {
		t.Fatal(err)
	}
	h := hmac.New(sha256.New, key)
	h.Write([]byte(r.got.Get("webhook-id") + "." + r.got.Get("webhook-timestamp") + "." + r.body))
	if want := "v1," + base64.StdEncoding.EncodeToString(h.Sum(nil)); r.got.Get("webhook-signature") != want ||
		r.got.Get("webhook-id") != "id1" || r.got.Get("Content-Type") != "application/json" {
		t.Errorf("headers %v, want the signature %s", r.got, want)
	}
	var body struct {
		Type      string
		Timestamp time.Time
		Data      send.Message
	}
	if err := json.Unmarshal([]byte(r.body), &body); err != nil || body.Type != "gslb.event" ||
		!body.Timestamp.Equal(aMessage.Time) || body.Data.Events[0].Sequence != 7 || body.Data.More != 2 {
		t.Errorf("%s %v", r.body, err)
	}
	m := aMessage
	m.Resolved = true
	if err := newSender(t, config.NotificationTarget{URL: settings.Secret(r.URL)}).Send(t.Context(), m); err != nil ||
		r.got.Get("webhook-signature") != "" || !strings.HasPrefix(r.body, `{"type":"gslb.resolved"`) {
		t.Errorf("without a secret: %v %v %s", err, r.got, r.body)
	}
}

// The response determines whether and when the message is retried. Errors omit the address.
func TestWebhook_AnswersMeanWhatHTTPSays(t *testing.T) {
	r := newReceiver(t)
	s := newSender(t, config.NotificationTarget{URL: settings.Secret(r.URL + "/private")})
	for _, tc := range []struct {
		status    int
		after     string
		permanent bool
		later     time.Duration
	}{
		{200, "", false, 0}, {302, "", true, 0}, {400, "", true, 0}, {401, "", true, 0}, {404, "", true, 0},
		{408, "", false, 0}, {410, "", true, 0}, {429, "120", false, 2 * time.Minute}, {500, "", false, 0},
		{503, "7", false, 7 * time.Second}, {503, "soon", false, 0}, {503, "-1", false, 0},
	} {
		r.status, r.headers = tc.status, map[string]string{"Retry-After": tc.after, "Location": r.URL}
		err := s.Send(t.Context(), aMessage)
		_, permanent := errors.AsType[*send.Permanent](err)
		later, asked := errors.AsType[*send.Later](err)
		if (err == nil) != (tc.status == 200) || permanent != tc.permanent || asked && later.RetryAfter != tc.later ||
			asked != (tc.status == 429 || tc.status == 503) || err != nil && strings.Contains(err.Error(), "private") {
			t.Errorf("%d: %v, permanent %v, later %v", tc.status, err, permanent, later)
		}
	}
	r.Close()
	if err := s.Send(t.Context(), aMessage); err == nil || err.Error() != "it cannot be reached: connection refused" {
		t.Errorf("closed: %v", err)
	}
	ctx, cancel := context.WithDeadline(t.Context(), time.Now())
	defer cancel()
	if err := s.Send(ctx, aMessage); err == nil || err.Error() != "it gives no answer in time" {
		t.Errorf("too late: %v", err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	cancel()
	if err := s.Send(ctx, aMessage); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
