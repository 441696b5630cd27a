package metrics

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/leaf/httpserve"
	"gslb.internal/shared/segment"
	"gslb.internal/shared/settings"
)

// Timeouts of the endpoint: few scrapers, a few seconds per request.
const (
	maxConnections = 32
	maxScrapes     = 4
	headerTimeout  = 5 * time.Second
	answerTimeout  = 30 * time.Second
	idleTimeout    = 2 * time.Minute // scrape intervals are 15 to 60 s
	maxHeader      = 16 << 10        // bytes
	stopTimeout    = 2 * time.Second
)

// Options configures the endpoint.
type Options struct {
	Address  string // metrics.address
	Gatherer prometheus.Gatherer
	Logger   zerolog.Logger
}

// Server serves GET /metrics.
type Server struct {
	listener *httpserve.Listener
	http     *http.Server
}

// Handler answers scrapes.
func Handler(gatherer prometheus.Gatherer, logger zerolog.Logger) http.Handler {
	return promhttp.HandlerFor(gatherer, promhttp.HandlerOpts{
		ErrorLog:            gatherErrors{logger},
		ErrorHandling:       promhttp.ContinueOnError,
		MaxRequestsInFlight: maxScrapes,
	})
}

// New opens the listener. Run answers requests.
func New(o Options) (*Server, error) {
	listener, err := segment.Listen(settings.ListenNetwork("tcp", o.Address), o.Address)
	if err != nil {
		return nil, fmt.Errorf("metrics.address: listening on %s: %w", o.Address, err)
	}
	scrape := Handler(o.Gatherer, o.Logger)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, r *http.Request) {
		defer httpserve.Answering(r)()
		scrape.ServeHTTP(w, r)
	})
	return &Server{
		listener: httpserve.Bound(listener, maxConnections),
		http: &http.Server{
			Handler:           mux,
			ReadHeaderTimeout: headerTimeout,
			ReadTimeout:       headerTimeout,
			WriteTimeout:      answerTimeout,
			IdleTimeout:       idleTimeout,
			MaxHeaderBytes:    maxHeader,
			ErrorLog:          log.New(io.Discard, "", 0), // connection errors, which scrapers also report
		},
	}, nil
}

// Addr returns the address that the endpoint listens on.
func (s *Server) Addr() net.Addr { return s.listener.Addr() }

// Run answers requests until ctx ends. It then waits at most stopTimeout for active scrapes, and closes the listener.
// It must be called once.
func (s *Server) Run(ctx context.Context) error {
	return httpserve.Run(ctx, s.http, s.listener, stopTimeout)
}

// gatherErrors logs errors of promhttp.
type gatherErrors struct{ log zerolog.Logger }

func (e gatherErrors) Println(v ...any) {
	e.log.Warn().Str("detail", fmt.Sprint(v...)).Msg("metrics could not be served whole")
}
