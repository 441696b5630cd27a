package httpapi

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/control/document"
	"gslb.internal/overwatch/internal/control/impact"
	"gslb.internal/overwatch/internal/control/objects"
	"gslb.internal/overwatch/internal/control/operations"
	"gslb.internal/overwatch/internal/leaf/httpserve"
	"gslb.internal/overwatch/internal/operate/figures"
	"gslb.internal/overwatch/internal/operate/nodes"
	"gslb.internal/overwatch/internal/operate/signin"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/shared/api"
	"gslb.internal/shared/logging"
	"gslb.internal/shared/segment"
	"gslb.internal/shared/settings"
)

// Timeouts of a connection. An answer can take the time of a validation run and of its transmission. Clients wait
// equally long for a reload, the slowest valid request.
const (
	headerTimeout = 5 * time.Second
	bodyTimeout   = 15 * time.Second // header and body
	idleTimeout   = 60 * time.Second
	answerTimeout = api.ValidateTimeout + 30*time.Second
	maxHeader     = 16 << 10 // bytes
	stopTimeout   = 3 * time.Second
)

// Server is the API of a node.
type Server struct {
	o        Options
	log      zerolog.Logger
	access   *access
	bearers  atomic.Pointer[bearers]
	people   *signin.Manager // sign-in of people; nil without a provider
	listener *httpserve.Listener
	http     *http.Server
	tls      *httpserve.Certificates // nil: plain HTTP

	edit      *objects.Editor
	op        *operations.Operations
	figures   *figures.Sources
	nodes     *nodes.Sources
	planner   *document.Planner
	impact    *impact.Assessor
	byName    atomic.Pointer[domainsByName]
	streams   atomic.Int64  // number of open event streams
	stopping  chan struct{} // closed when the server stops, which ends streams
	checking  chan struct{} // one entry during the validation of a configuration
	documents turns         // limits requests that plan or apply a document

	unsealed logging.SharedLines // limits the log lines about rejected requests of other nodes
}

// New opens the listener. Run answers the requests.
func New(o Options) (*Server, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	if o.API.MaxConnections < 1 {
		return nil, fmt.Errorf("api.max_connections: %d: it must be at least 1", o.API.MaxConnections)
	}
	certificates, err := o.certificates()
	if err != nil {
		return nil, err
	}
	people, err := openSignIn(&o)
	if err != nil {
		return nil, err
	}
	listener, err := segment.Listen(settings.ListenNetwork("tcp", o.API.Address), o.API.Address)
	if err != nil {
		return nil, fmt.Errorf("api.address: listening on %s: %w", o.API.Address, err)
	}
	s := &Server{
		o:         o,
		log:       o.Logger,
		access:    newAccess(o.API, listener.Addr(), o.NodeID),
		listener:  httpserve.Bound(listener, o.API.MaxConnections),
		stopping:  make(chan struct{}),
		checking:  make(chan struct{}, 1),
		documents: newTurns(maxDocuments, maxWaitingDocuments),
		tls:       certificates,
		people:    people,
	}
	s.edit = &objects.Editor{Config: func() *config.Config {
		cfg, _ := o.Config()
		return cfg
	}, Defined: o.Definitions.Defined, View: o.View, Signs: o.SigningKeys != nil, Now: o.Now}
	s.impact = impact.New(impact.Options{View: o.View, DNSView: o.DNSView, Flush: o.Flush, Decisions: o.Decisions,
		Now: o.Now})
	s.planner = document.New(document.Options{Edit: s.edit, Impact: s.impact, Definitions: o.Definitions,
		Inventory: o.Inventory, View: o.View, Flush: o.Flush, Now: o.Now})
	s.op = operations.New(operations.Options{Changes: o.Changes, Edit: s.edit, Impact: s.impact, Planner: s.planner,
		Definitions: o.Definitions, Inventory: o.Inventory, Applied: o.Applied, Rolls: o.KeySync,
		View: o.View, Audit: o.Audit,
		Flush: o.Flush, Logger: o.Logger, Now: o.Now})
	s.figures = &figures.Sources{NodeID: o.NodeID, StartedAt: o.StartedAt, Config: o.Config, View: o.View,
		History: o.History, Decisions: o.Decisions, Members: o.Members, Status: o.Fitness.Status,
		Signs: o.SigningKeys != nil, Now: o.Now}
	s.nodes = &nodes.Sources{NodeID: o.NodeID, Version: o.Build.Version, StartedAt: o.StartedAt,
		Signs: o.SigningKeys != nil, Config: o.Config, Defined: o.Definitions.Defined, View: o.View, Pins: o.Pins,
		Peers: o.KeySync, Members: o.Members, HeardFrom: o.HeardFrom, Self: o.Self, Ready: o.Fitness.Readiness,
		Now: o.Now}
	if at, isTCP := listener.Addr().(*net.TCPAddr); isTCP {
		s.nodes.APIPort = at.Port
	}
	s.http = &http.Server{
		Handler:                      &slowDisk{next: s.engine(), disk: o.DiskTakes},
		ReadHeaderTimeout:            headerTimeout,
		ReadTimeout:                  bodyTimeout,
		WriteTimeout:                 answerTimeout,
		IdleTimeout:                  idleTimeout,
		MaxHeaderBytes:               maxHeader,
		DisableGeneralOptionsHandler: true,
		ErrorLog:                     logging.Library(o.Logger),
	}
	s.http.RegisterOnShutdown(sync.OnceFunc(func() { close(s.stopping) }))
	if certificates != nil {
		s.http.TLSConfig = certificates.Config()
	}
	return s, nil
}

// certificates reads the files of api.tls. It returns nil if the API uses plain HTTP.
func (o *Options) certificates() (*httpserve.Certificates, error) {
	if o.API.TLS.Certificate == "" {
		return nil, nil
	}
	files := httpserve.TLSFiles{Certificate: o.API.TLS.Certificate, Key: o.API.TLS.Key, ClientCA: o.API.TLS.ClientCA}
	c, err := httpserve.LoadCertificates(files, func(err error) {
		if err != nil {
			o.Logger.Error().Err(err).Msg("the files of api.tls have changed and cannot be used: those before stay " +
				"in " +
				"use")
			return
		}
		o.Logger.Info().Msg("the files of api.tls have changed and are in use")
	})
	if err != nil {
		return nil, fmt.Errorf("api.tls: %w", err)
	}
	return c, nil
}

// Certificates returns the certificates of the listener and of its trusted authorities.
func (s *Server) Certificates() []httpserve.Dated {
	if s.tls == nil {
		return nil
	}
	return s.tls.Dated()
}

// Addr returns the address that the API listens on.
func (s *Server) Addr() net.Addr { return s.listener.Addr() }

// Operations returns the operations of the API, for other ways to make changes.
func (s *Server) Operations() *operations.Operations { return s.op }

// Run answers requests until ctx ends, then finishes current requests within stopTimeout, and closes the listener. It
// must be called once.
func (s *Server) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { s.runSignIn(ctx) })
	defer running.Wait()
	defer cancel()
	return httpserve.Run(ctx, s.http, s.listener, stopTimeout)
}

// engine routes requests to the operations.
func (s *Server) engine() *gin.Engine {
	gin.SetMode(gin.ReleaseMode) // gin's only global variable: otherwise gin writes to standard output
	e := gin.New()
	e.RedirectTrailingSlash = false
	e.HandleMethodNotAllowed = true
	e.UseRawPath = true // an escaped slash stays inside its segment
	e.ContextWithFallback = false
	for _, o := range Operations() {
		e.Handle(o.Method, o.route(), s.serve(&o))
		if o.Method == http.MethodGet {
			e.Handle(http.MethodHead, o.route(), s.serve(&o))
		}
	}
	for _, o := range s.besideTheAPI() {
		e.Handle(o.Method, o.Path, s.serve(&o))
		if o.Method == http.MethodGet {
			e.Handle(http.MethodHead, o.Path, s.serve(&o))
		}
	}
	e.NoRoute(s.serve(&Operation{Method: get, handle: noRoute}))
	e.NoMethod(s.serve(&Operation{Method: get, handle: noMethod}))
	return e
}

func noRoute(_ *Server, c *call) (answer, error) {
	return answer{}, notFound("there is no path %.260q", c.Request.URL.Path)
}

func noMethod(_ *Server, c *call) (answer, error) {
	return answer{}, problemf(http.StatusMethodNotAllowed, "%.32q is not a method of this path: it has %s",
		c.Request.Method, c.Writer.Header().Get("Allow"))
}
