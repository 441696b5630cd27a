package externaldns

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"gslb.internal/shared/api"
)

// Provider answers ExternalDNS. Its methods may be called from any goroutine.
type Provider struct {
	Node   func(context.Context) (*api.Client, error) // the node to ask, and to change
	Owner  string                                     // whose servers it has
	Region string                                     // of endpoints without an annotation
	Port   int                                        // of endpoints without an annotation
	Force  bool                                       // goes on where much of what the owner has changes or goes
	Log    *slog.Logger

	changing sync.Mutex // held by apply
	telling  sync.Mutex
	told     map[string]bool // problems of the last call of adjust
}

// Handler answers the requests of the protocol. ExternalDNS ends at an answer of 4xx and tries again after 5xx, so only
// what can never be right has the former.
func (p *Provider) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) { p.answer(w, r, p.negotiate) })
	mux.HandleFunc("GET /records", func(w http.ResponseWriter, r *http.Request) { p.answer(w, r, p.records) })
	mux.HandleFunc("POST /adjustendpoints", func(w http.ResponseWriter, r *http.Request) {
		p.answer(w, r, func(ctx context.Context) (any, error) {
			var list []*endpoint
			if err := decode(w, r, &list); err != nil {
				return nil, err
			}
			return p.adjust(ctx, list)
		})
	})
	mux.HandleFunc("POST /records", func(w http.ResponseWriter, r *http.Request) {
		p.answer(w, r, func(ctx context.Context) (any, error) {
			var c changes
			if err := decode(w, r, &c); err != nil {
				return nil, err
			}
			return nil, p.apply(ctx, c.clean())
		})
	})
	return mux
}

// Health answers GET /healthz: the process is there. That nodes are away is not mended by a restart.
func Health() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok\n") })
	return mux
}

func (p *Provider) negotiate(ctx context.Context) (any, error) {
	node, err := p.Node(ctx)
	if err != nil {
		return nil, err
	}
	settings, err := node.DNSConfig(ctx)
	filter := domainFilter{}
	for _, zone := range settings.Config.Zones {
		if zone = strings.Trim(zone, "."); zone == "" {
			return domainFilter{}, err // the root zone has every name
		}
		filter.Include = append(filter.Include, zone)
	}
	return filter, err
}

func (p *Provider) records(ctx context.Context) (any, error) {
	node, err := p.Node(ctx)
	if err != nil {
		return nil, err
	}
	doc, err := node.Document(ctx)
	return recordsOf(doc, p.Owner), err
}

// answer writes what a request leads to; nil is no content.
func (p *Provider) answer(w http.ResponseWriter, r *http.Request, do func(context.Context) (any, error)) {
	body, err := do(r.Context())
	status := http.StatusOK
	switch mistake, isMistake := errors.AsType[*mistake](err); {
	case isMistake:
		status = mistake.status
	case err != nil:
		status = http.StatusInternalServerError
	case body == nil:
		status = http.StatusNoContent
	}
	if err != nil {
		p.Log.Error("refused", "request", r.Method+" "+r.URL.Path, "status", status, "error", err.Error())
		http.Error(w, err.Error(), status)
		return
	}
	w.Header().Set("Content-Type", MediaType)
	w.WriteHeader(status)
	if body != nil {
		_ = json.NewEncoder(w).Encode(body) // who does not listen asks again
	}
}

// mistake is an error of who asks.
type mistake struct {
	status int
	text   string
}

func (m *mistake) Error() string { return m.text }

// decode reads a body. Keys that are not known are left out: the types of ExternalDNS grow.
func decode[T any](w http.ResponseWriter, r *http.Request, into *T) error {
	given := r.Header.Get("Content-Type")
	kind, parameters, err := mime.ParseMediaType(given)
	if wanted, version, _ := strings.Cut(MediaType, ";version="); err != nil || kind != wanted ||
		parameters["version"] != version {
		return &mistake{http.StatusUnsupportedMediaType,
			fmt.Sprintf("Content-Type is %.100q: it must be %s", given, MediaType)}
	}
	decoder := json.NewDecoder(http.MaxBytesReader(w, r.Body, api.MaxDocument))
	err = decoder.Decode(into)
	if err == nil {
		if _, err = decoder.Token(); errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = errors.New("there is something after the JSON value")
		}
	}
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return &mistake{http.StatusRequestEntityTooLarge, fmt.Sprintf("the body has more than %d MiB", api.MaxDocument>>20)}
	}
	return &mistake{http.StatusBadRequest, "the body is not usable: " + err.Error()}
}

// Serve answers on two listeners, which it closes, until ctx ends.
func (p *Provider) Serve(ctx context.Context, provider, health net.Listener) error {
	failed := make(chan error, 2)
	var servers []*http.Server
	for listener, handler := range map[net.Listener]http.Handler{provider: p.Handler(), health: Health()} {
		server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute,
			WriteTimeout: 5 * time.Minute, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 1 << 16}
		servers = append(servers, server)
		go func() { failed <- server.Serve(listener) }()
	}
	var err error
	select {
	case <-ctx.Done():
	case err = <-failed:
	}
	bound, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	for _, server := range servers {
		if late := server.Shutdown(bound); late != nil {
			err = errors.Join(err, late, server.Close())
		}
	}
	return err
}
