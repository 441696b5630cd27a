package send

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"gslb.internal/overwatch/internal/state/config"
)

// New makes the sender of a target.
func New(c config.NotificationTarget) (Sender, error) {
	key, err := config.WebhookKey(c.Secret)
	if err != nil {
		return nil, err
	}
	return &webhook{url: c.URL.Reveal(), key: key, client: &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}, nil
}

// webhook posts messages as JSON, signed by the rules of Standard Webhooks (standardwebhooks.com, version 1.0.0).
type webhook struct {
	url    string
	key    []byte // nil: they are not signed
	client *http.Client
}

// body is the JSON text of a message.
type body struct {
	Type      string    `json:"type"`
	Timestamp time.Time `json:"timestamp"`
	Data      Message   `json:"data"`
}

// Send implements Sender.
func (w *webhook) Send(ctx context.Context, m Message) error {
	kind := "gslb.event"
	switch {
	case m.Test:
		kind = "gslb.test"
	case m.Resolved:
		kind = "gslb.resolved"
	}
	text, err := json.Marshal(body{kind, m.Time.UTC(), m})
	if err != nil {
		return &Permanent{err}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url, bytes.NewReader(text))
	if err != nil {
		return &Permanent{errors.New("its url is none")}
	}
	at := strconv.FormatInt(time.Now().Unix(), 10)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "gslb-overwatch")
	req.Header.Set("Webhook-Id", m.ID)
	req.Header.Set("Webhook-Timestamp", at)
	if w.key != nil {
		h := hmac.New(sha256.New, w.key)
		_, _ = fmt.Fprintf(h, "%s.%s.%s", m.ID, at, text)
		req.Header.Set("Webhook-Signature", "v1,"+base64.StdEncoding.EncodeToString(h.Sum(nil)))
	}
	return do(w.client, req)
}

// maxReply bounds what is read of an answer, in octets, so that its connection can be used again.
const maxReply = 64 << 10

// do makes a request, and returns what an answer other than 2xx means. Its error does not have the URL, which may be
// secret.
func do(client *http.Client, req *http.Request) error {
	resp, err := client.Do(req)
	if err != nil {
		if inner, ok := errors.AsType[*url.Error](err); ok {
			err = inner.Err
		}
		return fmt.Errorf("it cannot be reached: %w", err)
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, maxReply))
	err = fmt.Errorf("it answers %d %s", resp.StatusCode, http.StatusText(resp.StatusCode))
	switch {
	case resp.StatusCode/100 == 2:
		return nil
	case resp.StatusCode == http.StatusTooManyRequests, resp.StatusCode == http.StatusServiceUnavailable:
		return &Later{retryAfter(resp.Header.Get("Retry-After"), time.Now()), err}
	case resp.StatusCode/100 == 5, resp.StatusCode == http.StatusRequestTimeout, resp.StatusCode == http.StatusTooEarly:
		return err
	}
	return &Permanent{err}
}

// retryAfter reads the header Retry-After (RFC 9110, section 10.2.3): seconds, or a time. 0: neither.
func retryAfter(text string, now time.Time) time.Duration {
	if seconds, err := strconv.Atoi(text); err == nil && seconds > 0 {
		return time.Duration(min(seconds, 1<<20)) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil && at.After(now) {
		return at.Sub(now)
	}
	return 0
}
