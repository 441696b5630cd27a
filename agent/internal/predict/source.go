package predict

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"regexp"

	"gslb.internal/agent/internal/config"
)

const (
	// maxSourceBody is the maximum size of the application's response in bytes after decompression.
	maxSourceBody = 8 << 20
	// maxSourceHeader is the maximum size of the response header in bytes.
	maxSourceHeader = 32 << 10
)

// reader reads the error count of the application from error_rate.source.
type reader struct {
	source    config.ErrorSource
	labels    map[string]*regexp.Regexp
	userAgent string
	client    *http.Client
}

// newReader returns a reader that connects to the source's own address, ignoring proxies in the
// environment. It follows no redirects.
func newReader(s config.ErrorSource, userAgent string) *reader {
	dialer := &net.Dialer{Timeout: s.Timeout}
	return &reader{source: s, labels: s.Matchers(), userAgent: userAgent, client: &http.Client{
		Timeout:       s.Timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			DialContext: dialer.DialContext, MaxIdleConns: 1, MaxConnsPerHost: 1,
			TLSHandshakeTimeout: s.Timeout, ResponseHeaderTimeout: s.Timeout, MaxResponseHeaderBytes: maxSourceHeader,
		},
	}}
}

// read returns the current number, at least 0.
func (r *reader) read(ctx context.Context) (float64, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, r.source.URL, nil)
	if err != nil {
		return 0, err
	}
	accept := "application/json"
	if r.source.Metric != "" {
		accept = "text/plain; version=0.0.4"
	}
	request.Header.Set("Accept", accept)
	request.Header.Set("User-Agent", r.userAgent)
	answer, err := r.client.Do(request)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("it answered with status %d, want 200", answer.StatusCode)
	}
	body := &bounded{from: answer.Body, left: maxSourceBody}
	var value float64
	if r.source.Metric != "" {
		value, err = metricValue(body, r.source.Metric, r.labels)
	} else {
		value, err = fieldValue(body, r.source.Path())
	}
	switch {
	case err != nil:
		return 0, err
	case math.IsNaN(value), math.IsInf(value, 0), value < 0:
		return 0, fmt.Errorf("%s is %v: errors are a number from 0 on", r.what(), value)
	}
	return value, nil
}

// what returns the configured name of the number, for errors and the log.
func (r *reader) what() string {
	if r.source.Metric != "" {
		return "metric " + r.source.Metric
	}
	return "field " + r.source.Field
}

// errLargeSource means that the response is longer than maxSourceBody.
var errLargeSource = errors.New("it answered with more than 8 MiB")

// bounded reads up to a limit. It returns an error for more data.
type bounded struct {
	from io.Reader
	left int
}

// Read implements io.Reader.
func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errLargeSource
	}
	n, err := b.from.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}
