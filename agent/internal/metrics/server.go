package metrics

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/rs/zerolog"
	"golang.org/x/net/netutil"

	"gslb.internal/shared/logging"
	"gslb.internal/shared/segment"
	"gslb.internal/shared/settings"
)

// Limits of the listener. Any client that reaches the address may connect, and must not exhaust the memory or
// descriptors of the checks.
const (
	maxConnections = 32
	maxInFlight    = 4
	headerTime     = 5 * time.Second  // for reading a request
	answerTime     = 15 * time.Second // for the whole exchange: the default timeout of Prometheus is 10 s
	idleTime       = 2 * time.Minute  // twice the usual scrape interval
	maxHeader      = 16 << 10         // bytes
	stopTime       = time.Second
)

// Server answers GET /metrics.
type Server struct {
	listener net.Listener
	http     *http.Server
}

// Listen opens the address. Requests wait until Run. Errors of single connections are logged at debug level.
func Listen(address string, figures prometheus.Gatherer, logger zerolog.Logger) (*Server, error) {
	listener, err := open(address)
	if err != nil {
		return nil, fmt.Errorf("metrics.address %s: %w", address, err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(figures, promhttp.HandlerOpts{
		MaxRequestsInFlight: maxInFlight, EnableOpenMetrics: true,
	}))
	return &Server{
		listener: netutil.LimitListener(listener, maxConnections),
		http: &http.Server{
			Handler: mux, ReadHeaderTimeout: headerTime, ReadTimeout: headerTime, WriteTimeout: answerTime,
			IdleTimeout: idleTime, MaxHeaderBytes: maxHeader, ErrorLog: logging.Library(logger),
		},
	}, nil
}

// Try returns the error that Listen would return for the address, or nil.
func Try(address string) error {
	listener, err := open(address)
	if err != nil {
		return err
	}
	return listener.Close()
}

// open listens on an address. Its errors name the remedy and omit the address.
func open(address string) (net.Listener, error) {
	listener, err := segment.Listen(settings.ListenNetwork("tcp", address), address)
	if err == nil {
		return listener, nil
	}
	if failed, ok := errors.AsType[*net.OpError](err); ok {
		err = failed.Err
	}
	return nil, fmt.Errorf("cannot be listened on (%w): stop what uses it, or choose another", err)
}

// Addr returns the address of the listener.
func (s *Server) Addr() net.Addr { return s.listener.Addr() }

// Run serves requests until ctx ends. Requests in progress then have one more second.
func (s *Server) Run(ctx context.Context) error {
	stopped := make(chan struct{})
	release := context.AfterFunc(ctx, func() {
		defer close(stopped)
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
		defer cancel()
		if s.http.Shutdown(bounded) != nil {
			_ = s.http.Close() // open connections are closed after that time
		}
	})
	err := s.http.Serve(s.listener)
	if release() {
		return fmt.Errorf("serving metrics: %w", err)
	}
	<-stopped
	return nil
}

// Close closes the listener. It may be called without Run.
func (s *Server) Close() { _ = s.listener.Close() } // Run has closed it before
