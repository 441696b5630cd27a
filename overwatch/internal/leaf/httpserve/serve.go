// Package httpserve runs an HTTP server whose number of connections is
// bounded, so that clients which send half a request, or keep idle
// connections, never keep others out.
//
// When all places are taken, a new connection gets the place of the one that
// has waited longest for its request. Only when every place belongs to a
// request for which Answering was called does a new connection wait.
// Everything here may be used from any goroutine.
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

// Run serves, over TLS where server.TLSConfig is set, until ctx ends. It then finishes requests within stop and cuts
// the rest. It closes the listener. Handlers call Answering, but for what strangers may read as slowly as they like.
func Run(ctx context.Context, server *http.Server, listener *Listener, stop time.Duration) error {
	server.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		if over, ok := c.(*tls.Conn); ok {
			c = over.NetConn()
		}
		return context.WithValue(ctx, connKey{}, c)
	}
	serve := func() error { return server.Serve(listener) }
	if server.TLSConfig != nil {
		// One request at a time has a connection, so that a busy connection is one request: no HTTP/2.
		server.Protocols = new(http.Protocols)
		server.Protocols.SetHTTP1(true)
		serve = func() error { return server.ServeTLS(listener, "", "") }
	}
	g, running := errgroup.WithContext(ctx)
	g.Go(func() error {
		if err := serve(); !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("serving HTTP on %s: %w", listener.Addr(), err)
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

// Answering marks that a whole request has arrived, with its body. Its connection keeps its place until done is
// called, which a handler must do when it has written its answer. Without it, the connection counts as one that waits.
func Answering(r *http.Request) (done func()) {
	c, ok := r.Context().Value(connKey{}).(*conn)
	if !ok {
		return func() {}
	}
	c.begin()
	return c.end
}

// Apart takes a long waiting request out of the count of open connections until done is called. Callers keep the number
// of such requests small.
func Apart(r *http.Request) (done func()) {
	c, ok := r.Context().Value(connKey{}).(*conn)
	if !ok {
		return func() {}
	}
	c.leave()
	return c.back
}
