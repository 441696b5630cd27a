// Package httpserve runs an HTTP server with a limited number of connections, so that clients with incomplete requests
// or idle connections cannot lock out others. The HTTP API, metrics and key exchange use it. It must not depend on
// gslb.
//
// At the limit, a new connection replaces the connection that has waited longest for its request. If all connections
// have requests for which Answering was called, the new connection waits. All functions are safe for concurrent use.
package httpserve

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"
)

// Run serves requests until ctx ends, over TLS if server.TLSConfig is set. It then waits up to stop for requests, and
// closes the remaining connections and the listener. Handlers call Answering unless slow clients may be disconnected.
func Run(ctx context.Context, server *http.Server, listener *Listener, stop time.Duration) error {
	server.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		if over, ok := c.(*tls.Conn); ok {
			c = over.NetConn()
		}
		return context.WithValue(ctx, connKey{}, c)
	}
	serve := func() error { return server.Serve(listener) }
	if server.TLSConfig != nil {
		// A busy connection must correspond to one request, so HTTP/2 is disabled.
		server.Protocols = new(http.Protocols)
		server.Protocols.SetHTTP1(true)
		serve = func() error { return server.ServeTLS(listener, "", "") }
	}
	g, running := errgroup.WithContext(ctx)
	g.Go(func() error {
		if err := serve(); !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("serve HTTP on %s: %w", listener.Addr(), err)
		}
		return nil
	})
	g.Go(func() error {
		<-running.Done()
		bound, cancel := context.WithTimeout(context.WithoutCancel(ctx), stop)
		defer cancel()
		if server.Shutdown(bound) != nil {
			return server.Close()
		}
		return nil
	})
	return g.Wait()
}

type connKey struct{}

// Answering records the complete receipt of a request with its body. Until the handler calls done, no new connection
// replaces the connection. The handler must call done after it has written the response.
func Answering(r *http.Request) (done func()) {
	c, ok := r.Context().Value(connKey{}).(*conn)
	if !ok {
		return func() {}
	}
	c.beginRequest()
	return c.endResponse
}

// Apart excludes a long poll from the limit of connections until the caller calls done. Callers must limit the number
// of such requests.
func Apart(r *http.Request) (done func()) {
	c, ok := r.Context().Value(connKey{}).(*conn)
	if !ok {
		return func() {}
	}
	c.stopCounting()
	return c.resumeCounting
}
