package httpserve // inside: it shares limit_test.go

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"
)

// soon is the shutdown time of a server whose answers do not end automatically.
const soon = 200 * time.Millisecond

// run starts a server for h with a connection limit. It returns the address, and a function that stops the server with
// a shutdown time and returns the result of Run.
func run(t *testing.T, limit int, grace time.Duration, h http.HandlerFunc) (l *Listener, stop func() error) {
	t.Helper()
	l = listen(t, limit)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- Run(ctx, &http.Server{Handler: h}, l, grace) }()
	t.Cleanup(cancel)
	return l, func() error {
		cancel()
		select {
		case err := <-ended:
			return err
		case <-time.After(2 * deadline):
			return fmt.Errorf("still running")
		}
	}
}

func get(l *Listener) (string, error) {
	client := http.Client{Timeout: deadline, Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Get("http://" + l.Addr().String())
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return string(body), err
}

func answerOK(w http.ResponseWriter, r *http.Request) {
	defer Answering(r)()
	_, _ = io.WriteString(w, "ok")
}

func TestRun_HalfRequestsKeepNobodyOut(t *testing.T) {
	l, stop := run(t, 4, soon, answerOK)
	for range 20 {
		if _, err := io.WriteString(dial(t, l), "GET / HTTP/1.1\r\nHo"); err != nil {
			t.Fatal(err)
		}
	}
	for range 10 {
		if got, err := get(l); err != nil || got != "ok" {
			t.Fatalf("%q, %v", got, err)
		}
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}

func TestRun_AnswerUnderWayIsFinished(t *testing.T) {
	entered, release := make(chan struct{}), make(chan struct{})
	l, stop := run(t, 4, deadline, func(w http.ResponseWriter, r *http.Request) {
		close(entered)
		<-release
		answerOK(w, r)
	})
	body := make(chan string, 1)
	go func() {
		got, _ := get(l)
		body <- got
	}()
	<-entered
	stopped := make(chan error, 1)
	go func() { stopped <- stop() }()
	close(release)
	if got := <-body; got != "ok" {
		t.Errorf("got %q", got)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}

func TestRun_AnswerThatDoesNotEndIsCut(t *testing.T) {
	entered := make(chan struct{})
	l, stop := run(t, 4, soon, func(_ http.ResponseWriter, r *http.Request) {
		close(entered)
		<-r.Context().Done()
	})
	go func() { _, _ = get(l) }()
	<-entered
	if err := stop(); err != nil {
		t.Error(err)
	}
}

func TestRun_BrokenListenerIsAnError(t *testing.T) {
	l := listen(t, 1)
	l.Listener.Close()
	if err := Run(t.Context(), &http.Server{}, l, time.Second); err == nil {
		t.Error("no error")
	}
}
