package send

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"gslb.internal/overwatch/internal/state/config"
)

func newWebhook(c *config.NotificationTarget, client *http.Client) (Sender, error) {
	key, err := config.WebhookKey(c.Secret)
	if err != nil {
		return nil, err
	}
	return &webhook{url: c.URL.Reveal(), key: key, client: client}, nil
}

// webhook posts messages as JSON, signed according to Standard Webhooks (standardwebhooks.com, version 1.0.0).
type webhook struct {
	url    string
	key    []byte // nil: unsigned
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
	req, text, err := request(ctx, w.url, body{kind, m.Time.UTC(), m})
	if err != nil {
		return err
	}
	at := strconv.FormatInt(time.Now().Unix(), 10)
	req.Header.Set("Webhook-Id", m.ID)
	req.Header.Set("Webhook-Timestamp", at)
	if w.key != nil {
		h := hmac.New(sha256.New, w.key)
		_, _ = fmt.Fprintf(h, "%s.%s.%s", m.ID, at, text)
		req.Header.Set("Webhook-Signature", "v1,"+base64.StdEncoding.EncodeToString(h.Sum(nil)))
	}
	return do(w.client, req)
}
