package send

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"gslb.internal/overwatch/internal/state/config"
)

// New makes the sender of a target.
func New(c config.NotificationTarget) (Sender, error) {
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	switch c.Type {
	case config.TargetSlack:
		return &slack{url: c.URL.Reveal(), client: client}, nil
	case config.TargetPagerDuty:
		return &pagerDuty{url: c.URL.Reveal(), key: c.Secret.Reveal(), client: client}, nil
	case config.TargetAlertmanager:
		return &alertmanager{url: c.URL.Reveal(), token: c.Secret.Reveal(), client: client}, nil
	case config.TargetEmail:
		return newEmail(&c), nil
	}
	return newWebhook(&c, client)
}

// request creates a request with a JSON body, and returns the body.
func request(ctx context.Context, to string, body any) (*http.Request, []byte, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, nil, &Permanent{err}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(text))
	if err != nil {
		return nil, nil, &Permanent{errors.New("its url is none")}
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "gslb-overwatch")
	return req, text, nil
}

// post sends a JSON body.
func post(ctx context.Context, client *http.Client, to string, body any) error {
	req, _, err := request(ctx, to, body)
	if err != nil {
		return err
	}
	return do(client, req)
}

// maxReply is the maximum number of octets read from a response, so that its connection can be reused.
const maxReply = 64 << 10

// do sends a request, and returns an error for a status other than 2xx. The error omits the URL, which may be secret.
func do(client *http.Client, req *http.Request) error {
	resp, err := client.Do(req)
	if err != nil {
		return reachError(err)
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

// retryAfter parses the Retry-After header (RFC 9110, section 10.2.3): seconds or a date. It returns 0 if the header is
// neither.
func retryAfter(text string, now time.Time) time.Duration {
	if seconds, err := strconv.Atoi(text); err == nil && seconds > 0 {
		return time.Duration(min(seconds, 1<<20)) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil && at.After(now) {
		return at.Sub(now)
	}
	return 0
}
