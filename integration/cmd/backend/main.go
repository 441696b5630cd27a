// Command backend is a small HTTP server that represents an application in the demo and in the tests. It answers every
// path with its name. It answers /health with 200 until a request changes the status:
//
//	curl -X POST http://ADDRESS/unhealthy    /health answers 503 from now on
//	curl -X POST http://ADDRESS/healthy      /health answers 200
//	curl -X POST http://ADDRESS/flaky        every second request is answered with 503
//	curl -X POST http://ADDRESS/slow?by=100ms    each answer is delayed by 100 ms
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"
)

// closeBound is the time limit of requests in flight after SIGTERM.
const closeBound = time.Second

func main() {
	name := flag.String("name", "backend", "what to answer")
	listen := flag.String("listen", "127.0.0.1:8000", "address:port to listen on")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	if err := run(ctx, *name, *listen); err != nil {
		fmt.Fprintln(os.Stderr, "backend:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, name, listen string) error {
	server := &http.Server{Addr: listen, Handler: routes(name), ReadHeaderTimeout: 5 * time.Second}
	closed := make(chan error, 1)
	go func() {
		<-ctx.Done()
		bound, cancel := context.WithTimeout(context.Background(), closeBound)
		defer cancel()
		closed <- server.Shutdown(bound)
	}()
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving on %s: %w", listen, err)
	}
	return <-closed
}

func routes(name string) http.Handler {
	var sick, flaky atomic.Bool
	var requests atomic.Int64
	mux := http.NewServeMux()
	var delay atomic.Int64
	mux.HandleFunc("POST /slow", func(w http.ResponseWriter, r *http.Request) {
		by, err := time.ParseDuration(r.FormValue("by"))
		if err != nil {
			http.Error(w, "by: "+err.Error(), http.StatusBadRequest)
			return
		}
		delay.Store(int64(by))
	})
	mux.HandleFunc("GET /health", func(w http.ResponseWriter, _ *http.Request) {
		time.Sleep(time.Duration(delay.Load()))
		if sick.Load() || flaky.Load() && requests.Add(1)%2 == 0 {
			http.Error(w, name+" is set to unhealthy", http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ok")
	})
	mux.HandleFunc("POST /unhealthy", func(http.ResponseWriter, *http.Request) { sick.Store(true) })
	mux.HandleFunc("POST /flaky", func(http.ResponseWriter, *http.Request) { flaky.Store(true) })
	mux.HandleFunc("POST /healthy", func(http.ResponseWriter, *http.Request) {
		sick.Store(false)
		flaky.Store(false)
	})
	mux.HandleFunc("GET /", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, name) })
	return mux
}
