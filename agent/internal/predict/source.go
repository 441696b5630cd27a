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
	"strings"
	"time"
)

const (
	// maxSourceBody bounds what is read of the application's answer, in octets, decompressed.
	maxSourceBody = 8 << 20
	// maxSourceHeader bounds its header.
	maxSourceHeader = 32 << 10
)

// Source is where the application itself tells its errors: one number behind a URL.
type Source struct {
	// URL is asked with GET.
	URL string
	// Metric names a metric in Prometheus' text format; Field a number in a JSON document, by the names on the way to it. One of
	// them is set.
	Metric string
	Field  []string
	// Labels are what a series of Metric must have to count: expressions that the whole value must match. All that do are added up.
	Labels map[string]*regexp.Regexp
	// PerMinute says that the number is errors per minute already; otherwise it is how many there have been since some start.
	PerMinute bool
	// Timeout bounds one reading.
	Timeout time.Duration
	// UserAgent is sent.
	UserAgent string
}

// reader reads a Source.
type reader struct {
	source Source
	client *http.Client
}

// newReader returns a reader that goes to the source's own address, whatever proxies the environment names. A redirect is not
// followed: the application's errors are told where the operator said.
func newReader(s Source) *reader {
	dialer := &net.Dialer{Timeout: s.Timeout}
	return &reader{source: s, client: &http.Client{
		Timeout:       s.Timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			DialContext: dialer.DialContext, MaxIdleConns: 1, MaxConnsPerHost: 1,
			TLSHandshakeTimeout: s.Timeout, ResponseHeaderTimeout: s.Timeout, MaxResponseHeaderBytes: maxSourceHeader,
		},
	}}
}

// read returns the number as it is now, at least 0.
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
	request.Header.Set("User-Agent", r.source.UserAgent)
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
		value, err = metricValue(body, r.source.Metric, r.source.Labels)
	} else {
		value, err = fieldValue(body, r.source.Field)
	}
	switch {
	case err != nil:
		return 0, err
	case math.IsNaN(value), math.IsInf(value, 0), value < 0:
		return 0, fmt.Errorf("%s is %v: errors are a number from 0 on", r.what(), value)
	}
	return value, nil
}

// what names what is read, as the configuration does.
func (r *reader) what() string {
	if r.source.Metric != "" {
		return "metric " + r.source.Metric
	}
	return "field " + strings.Join(r.source.Field, ".")
}

// errLargeSource is returned for an answer that goes on and on.
var errLargeSource = errors.New("it answered with more than 8 MiB")

// bounded reads so much and no more; what is beyond is an error, not an end.
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
