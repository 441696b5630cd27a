package api

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"time"
)

// DefaultClientTimeout bounds a request of a Client, from connecting to the last octet of the answer.
const DefaultClientTimeout = 10 * time.Second

// maxAnswer bounds the body of an answer, in octets. It is far above the largest page, so that a
// wrong address cannot fill the memory.
const maxAnswer = 64 << 20

// ClientOptions are the inputs of NewClient.
type ClientOptions struct {
	Node      string        // an address for ParseNode
	Timeout   time.Duration // per request; 0 is DefaultClientTimeout
	UserAgent string
	TLS       *tls.Config // for https; nil: certificate authorities of the system, no client certificate
	Token     string      // sent as a bearer token (RFC 6750); empty: none

	// Dial opens the connections, for example from another local address. With Dial, the client uses no proxy. nil: the
	// standard dialer, with proxies.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// Client calls the API of a node. Each call makes one request, or one per page of a list. It fails with *Error for any
// other answer of the node, and with *UnreachableError without an answer. Any goroutine may call its methods.
type Client struct {
	base      string
	userAgent string
	token     string
	timeout   time.Duration
	http      *http.Client
}

// NewClient returns a client for a node. It opens no connection.
func NewClient(opts ClientOptions) (*Client, error) {
	base, err := ParseNode(opts.Node)
	if err != nil {
		return nil, err
	}
	timeout := opts.Timeout
	if timeout == 0 {
		timeout = DefaultClientTimeout
	}
	if timeout < 0 {
		return nil, fmt.Errorf("the timeout of a request is %s: it must be above zero", timeout)
	}
	return &Client{
		base:      base,
		userAgent: opts.UserAgent,
		token:     opts.Token,
		timeout:   timeout,
		http: &http.Client{
			Transport: transport(opts),
			// A redirect could lead to another node, so the client follows none.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}, nil
}

// transport returns nil, for the standard transport, unless TLS or Dial is set.
func transport(opts ClientOptions) http.RoundTripper {
	standard, ok := http.DefaultTransport.(*http.Transport)
	if (opts.TLS == nil && opts.Dial == nil) || !ok {
		return nil
	}
	own := standard.Clone()
	if opts.TLS != nil {
		own.TLSClientConfig = opts.TLS.Clone()
	}
	if opts.Dial != nil {
		own.DialContext, own.Proxy = opts.Dial, nil
	}
	return own
}

// Node returns the base URL of the node.
func (c *Client) Node() string { return c.base }

// call is a request.
type call struct {
	method      string
	path        string   // escaped, below the base URL
	names       []string // segments after the path, unescaped
	query       url.Values
	body        any    // nil: no body
	raw         []byte // a body that is not JSON, with its contentType
	contentType string
	timeout     time.Duration // 0: the timeout of the client
	also        int           // a status outside 2xx with a regular answer
}

// ask makes the request and returns its answer.
func ask[T any](ctx context.Context, c *Client, call call) (T, error) {
	var answer T
	err := c.do(ctx, call, &answer)
	return answer, err
}

// do makes the request and decodes the answer into the value that into points to. nil ignores the answer.
func (c *Client) do(ctx context.Context, call call, into any) error {
	ctx, cancel := context.WithTimeout(ctx, max(c.timeout, call.timeout))
	defer cancel()
	req, err := c.request(ctx, call)
	if err != nil {
		return err
	}
	var reached atomic.Bool
	resp, err := c.http.Do(req.WithContext(httptrace.WithClientTrace(ctx,
		&httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { reached.Store(true) }})))
	if err != nil {
		return c.unreachable(ctx, err, reached.Load())
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return c.unreachable(ctx, err, true)
	}
	if err := c.decode(resp, body, call.also, into); err != nil {
		return err
	}
	if tag, _ := ctx.Value(tagKey).(*string); tag != nil {
		*tag = resp.Header.Get("ETag")
	}
	return nil
}

// contextKey is the type of this package's keys in a context.
type contextKey int

const (
	tagKey contextKey = iota // *string, for the tag of the answer
	matchKey
	safeKey    // true for IfSafe
	changeKey  // string, the id of a change
	replaceKey // true for ReplacePlanned
)

// NoteTag returns a context that makes a successful call store the entity tag of its answer in tag. The tag is empty
// unless the answer is a single object that can be changed.
func NoteTag(ctx context.Context, tag *string) context.Context {
	return context.WithValue(ctx, tagKey, tag)
}

// OnlyIf returns a context for a change on condition that the object still has the tag from NoteTag (If-Match, RFC 9110
// section 13.1.1). Otherwise the change fails with an *Error of status 412. An empty tag means no condition.
func OnlyIf(ctx context.Context, tag string) context.Context {
	return context.WithValue(ctx, matchKey, tag)
}

// ChangeHeader is the header with the id of a change of several requests: a label of at most MaxChangeID characters. An
// undo applies to all requests of the change.
const (
	ChangeHeader = "X-Change-Id"
	MaxChangeID  = 64
)

// WithChange returns a context with the ID of a change. Requests that change something send the ID in ChangeHeader. An
// empty ID sends no header.
func WithChange(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, changeKey, id)
}

// NewChangeID returns a random id for WithChange.
func NewChangeID() string { return strings.ToLower(rand.Text()) }

func (c *Client) request(ctx context.Context, call call) (*http.Request, error) {
	path, err := under(call.path, call.names)
	if err != nil {
		return nil, err
	}
	target := c.base + path
	if safe, _ := ctx.Value(safeKey).(bool); safe && call.method != http.MethodGet {
		query := url.Values{"if_safe": {"true"}}
		maps.Copy(query, call.query)
		call.query = query
	}
	if replace, _ := ctx.Value(replaceKey).(bool); replace && call.method != http.MethodGet {
		query := url.Values{"replace_planned": {"true"}}
		maps.Copy(query, call.query)
		call.query = query
	}
	if len(call.query) > 0 {
		target += "?" + call.query.Encode()
	}
	var body io.Reader
	kind := "application/json"
	if call.raw != nil {
		body, kind = bytes.NewReader(call.raw), call.contentType
	}
	if call.body != nil {
		encoded, err := json.Marshal(call.body)
		if err != nil {
			return nil, fmt.Errorf("encoding the body of %s %s: %w", call.method, call.path, err)
		}
		body = bytes.NewReader(encoded)
	}
	req, err := http.NewRequestWithContext(ctx, call.method, target, body)
	if err != nil {
		return nil, fmt.Errorf("making the request %s %s: %w", call.method, target, err)
	}
	req.Header.Set("Accept", "application/json")
	if c.userAgent != "" {
		req.Header.Set("User-Agent", c.userAgent)
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	if tag, _ := ctx.Value(matchKey).(string); tag != "" {
		req.Header.Set("If-Match", tag)
	}
	if id, _ := ctx.Value(changeKey).(string); id != "" && call.method != http.MethodGet {
		req.Header.Set(ChangeHeader, id)
	}
	if body != nil {
		req.Header.Set("Content-Type", kind)
	}
	return req, nil
}

func (c *Client) decode(resp *http.Response, body []byte, also int, into any) error {
	failure := &Error{Status: resp.StatusCode, RequestID: resp.Header.Get("X-Request-Id"), Node: c.base}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	isJSON := kind == "application/json"
	if resp.StatusCode/100 != 2 && (resp.StatusCode != also || !isJSON) {
		var reply ErrorBody
		if isJSON && json.Unmarshal(body, &reply) == nil {
			failure.Message, failure.Problems, failure.Undo = reply.Error, reply.Problems, reply.Undo
		}
		return failure
	}
	switch {
	case into == nil:
		return nil
	case len(body) > maxAnswer:
		failure.Message = fmt.Sprintf("the answer is larger than %d MiB", maxAnswer>>20)
		return failure
	case !isJSON:
		failure.Message = fmt.Sprintf("the answer is %q and not JSON: this is not the API of an overwatch node", kind)
		return failure
	}
	if err := json.Unmarshal(body, into); err != nil {
		failure.Message = fmt.Sprintf("the answer cannot be read: %v", err)
		return failure
	}
	return nil
}

// unreachable returns an UnreachableError without the request line that net/http adds before the cause. It names
// timeouts. reached is the field Reached of the error.
func (c *Client) unreachable(ctx context.Context, err error, reached bool) error {
	if inner, ok := errors.AsType[*url.Error](err); ok {
		err = inner.Err
	}
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return &UnreachableError{Node: c.base, Err: err, Reached: reached}
}

// under appends variable segments to a path and escapes them, so that each remains a single segment. It rejects "", "."
// and "..", which cannot be segments of a URL.
func under(prefix string, segments []string) (string, error) {
	var b strings.Builder
	b.WriteString(prefix)
	for _, s := range segments {
		if s == "" || s == "." || s == ".." {
			return "", fmt.Errorf("%q cannot be a name in a path", s)
		}
		b.WriteByte('/')
		b.WriteString(url.PathEscape(s))
	}
	return b.String(), nil
}
