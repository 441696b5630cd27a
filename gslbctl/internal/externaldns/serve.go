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
	"gslb.internal/shared/hostrule"
)

// Provider answers the requests of ExternalDNS. Its methods are safe for concurrent use.
type Provider struct {
	Node   func(context.Context) (*api.Client, error) // node for reads and changes
	Owner  string                                     // owner of the servers that it changes
	Region string                                     // region of endpoints without an annotation
	Port   int                                        // port of endpoints without an annotation
	Force  bool                                       // allows changes of a large part of the owner's objects
	Hosts  []string                                   // additional accepted host names
	Log    *slog.Logger

	changing sync.Mutex // locked by apply
	telling  sync.Mutex
	told     map[string]bool // problems of the last list of all endpoints
}

// Handler returns the handler of the protocol. ExternalDNS exits after a status of 4xx and retries after 5xx. The
// handler therefore returns 4xx only for requests that can never succeed.
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
	hosts := hostrule.New(p.Hosts...)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !hosts.Allows(r.Host) { // DNS rebinding
			p.refuse(w, r, &mistake{http.StatusMisdirectedRequest, fmt.Sprintf("the host %.260q is not a name of "+
				"this program: "+
				"use its address or localhost, or add the name with --allowed-host", r.Host)})
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// Health returns a handler that answers GET /healthz with 200, even if no node is reachable, because a restart of this
// process would not help.
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
	var k nodeState
	if err := p.readPlaces(ctx, node, &k); err != nil {
		return nil, err
	}
	filter := domainFilter{}
	for _, zone := range k.zones {
		if zone = strings.Trim(zone, "."); zone == "" {
			return domainFilter{}, nil // the root zone contains every name
		}
		filter.Include = append(filter.Include, zone)
	}
	return filter, nil
}

func (p *Provider) records(ctx context.Context) (any, error) {
	node, err := p.Node(ctx)
	if err != nil {
		return nil, err
	}
	doc, err := node.Document(ctx)
	return recordsOf(doc, p.Owner), err
}

// answer calls do and writes its result as JSON. For a nil result it writes status 204.
func (p *Provider) answer(w http.ResponseWriter, r *http.Request, do func(context.Context) (any, error)) {
	body, err := do(r.Context())
	switch {
	case err != nil:
		p.refuse(w, r, err)
	case body == nil:
		w.Header().Set("Content-Type", MediaType)
		w.WriteHeader(http.StatusNoContent)
	default:
		w.Header().Set("Content-Type", MediaType)
		_ = json.NewEncoder(w).Encode(body) // a disconnected client retries
	}
}

// refuse logs an error and writes it as the response. The status is 4xx for a mistake and 500 for other errors.
func (p *Provider) refuse(w http.ResponseWriter, r *http.Request, err error) {
	status := http.StatusInternalServerError
	if mistake, isMistake := errors.AsType[*mistake](err); isMistake {
		status = mistake.status
	}
	// This read lets a client that sends its whole request first receive the response.
	_, _ = io.CopyN(io.Discard, r.Body, maxDiscarded)
	p.Log.Error("refused", "request", r.Method+" "+r.URL.Path, "status", status, "error", err.Error())
	http.Error(w, err.Error(), status)
}

// mistake is an error of the client, with a status of 4xx.
type mistake struct {
	status int
	text   string
}

func (m *mistake) Error() string { return m.text }

// maxDiscarded is the maximum number of octets of a rejected body that are read and discarded.
const maxDiscarded = 64 << 20

// decode reads a JSON body of at most api.MaxDocument octets. It ignores unknown keys, because ExternalDNS adds keys.
// Its errors are of type *mistake.
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
		return &mistake{http.StatusRequestEntityTooLarge, fmt.Sprintf("the body has more than %d MiB",
			api.MaxDocument>>20)}
	}
	return &mistake{http.StatusBadRequest, "the body is not usable: " + err.Error()}
}

// Serve serves the protocol and the health check on two listeners until ctx ends, and closes them.
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
