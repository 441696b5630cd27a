package httpapi // inside: it looks at http

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"gslb.internal/shared/api"
)

// stream is an open stream of events.
type stream struct {
	t      *testing.T
	lines  *bufio.Scanner
	cancel context.CancelFunc
	answer *http.Response
}

func (w *world) stream(t *testing.T, query, last string) *stream {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, w.base+"/api/v1/events"+query, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "text/event-stream")
	if last != "" {
		req.Header.Set("Last-Event-ID", last)
	}
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = answer.Body.Close() })
	return &stream{t, bufio.NewScanner(answer.Body), cancel, answer}
}

// next returns the lines of the next message with data, joined by spaces.
func (s *stream) next() string {
	s.t.Helper()
	var lines []string
	for s.lines.Scan() {
		line := s.lines.Text()
		switch {
		case line == "" && len(lines) > 0:
			return strings.Join(lines, " ")
		case line != "" && line[0] != ':' && !strings.HasPrefix(line, "retry:"):
			lines = append(lines, line)
		}
	}
	s.t.Fatalf("the stream has ended: %v", s.lines.Err())
	return ""
}

func (w *world) happen(kind api.EventKind, name string) {
	w.journal.Add(api.Event{Kind: kind, Name: name, Subject: "s", Severity: api.EventWarning})
}

// A stream continues after the last event of its reader, sends new events, and omits kinds of events that were not
// requested.
func TestEvents_AStreamGoesOn(t *testing.T) {
	w := newWorld(t)
	w.happen(api.EventBackend, "a.example")
	w.happen(api.EventName, "a.example")
	for query, last := range map[string]string{"": "1", "?after=1": "", "?after=0": "1"} {
		s := w.stream(t, query, last)
		if got := s.next(); !strings.HasPrefix(got, `id: 2 data: {"sequence":2,`) {
			t.Errorf("%s %s: %s", query, last, got)
		}
		s.cancel()
	}
	fresh := w.stream(t, "?kinds=name&names=B.example.", "")
	since := w.stream(t, "?severity=warning&since=2020-01-01T00:00:00Z", "")
	if got := since.next(); !strings.HasPrefix(got, "id: 1 ") {
		t.Errorf("since: %s", got)
	}
	if kind := fresh.answer.Header.Get("Content-Type"); kind != "text/event-stream" {
		t.Errorf("Content-Type is %q", kind)
	}
	for !fresh.lines.Scan() || fresh.lines.Text() != "" { // its head: the stream has begun
	}
	w.happen(api.EventBackend, "b.example")
	w.happen(api.EventName, "a.example")
	w.happen(api.EventName, "b.example")
	if got := fresh.next(); !strings.HasPrefix(got, "id: 5 ") {
		t.Errorf("filtered: %s", got)
	}
}

func TestEvents_APeriodHasBothEnds(t *testing.T) {
	w := newWorld(t)
	w.happen(api.EventBackend, "a.example")
	for query, want := range map[string]int{
		"since=2020-01-01T00:00:00Z&until=2020-01-02T00:00:00Z": 0,
		"since=2020-01-01T00:00:00Z&until=9000-01-01T00:00:00Z": 1, "until=2020-01-02T00:00:00Z": 0,
	} {
		values, _ := url.ParseQuery(query)
		if list, err := w.client.Events(t.Context(), values); err != nil || list.Total != want {
			t.Errorf("%s: %+v, %v, want %d", query, list, err, want)
		}
	}
}

// A reader that requests events that are no longer stored, or that never existed, first receives a message about the
// missing events.
func TestEvents_AReaderIsToldWhatItMissed(t *testing.T) {
	w := newWorld(t)
	w.happen(api.EventBackend, "a.example")
	s := w.stream(t, "", "99")
	if got := s.next(); got != `event: missed data: {"after":99,"oldest":1}` {
		t.Error(got)
	}
	if got := s.next(); !strings.HasPrefix(got, "id: 1 ") {
		t.Error(got)
	}
}

func TestEvents_StreamsAreBounded(t *testing.T) {
	w := newWorld(t, func(o *Options) { o.API.MaxConnections = 8 })
	first := w.stream(t, "", "")
	w.stream(t, "", "")
	if third := w.stream(t, "", ""); third.answer.StatusCode != http.StatusServiceUnavailable ||
		third.answer.Header.Get("Retry-After") == "" {
		t.Errorf("the third stream of 8 connections: %s", third.answer.Status)
	}
	first.cancel()
	for until := time.Now().Add(deadline); w.stream(t, "", "").answer.StatusCode != http.StatusOK; {
		if time.Now().After(until) {
			t.Fatal("no stream takes the place of one that has ended")
		}
	}
}

// An open stream sends nothing more after its token was removed.
func TestEvents_AStreamEndsWithItsToken(t *testing.T) {
	w := newWorld(t)
	s := w.stream(t, "", "")
	for !s.lines.Scan() || s.lines.Text() != "" { // its head: the stream has begun
	}
	withTokens(w)
	w.happen(api.EventBackend, "a.example")
	for s.lines.Scan() {
		if text := s.lines.Text(); text != "" {
			t.Errorf("after the tokens have changed: %s", text)
		}
	}
	if err := s.lines.Err(); err != nil {
		t.Errorf("the stream was not ended: %v", err)
	}
}

// A stream does not delay the end of the node, and HEAD does not wait for events.
func TestEvents_StreamsEndWithTheServer(t *testing.T) {
	w := newWorld(t)
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodHead, w.base+"/api/v1/events", nil)
	req.Header.Set("Accept", "text/event-stream")
	head, err := http.DefaultClient.Do(req)
	if err != nil || head.StatusCode != http.StatusOK {
		t.Fatalf("%v, %v", head, err)
	}
	_ = head.Body.Close()
	s := w.stream(t, "", "")
	if err := w.server.http.Shutdown(t.Context()); err != nil { // waits for active requests
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, s.answer.Body); err != nil {
		t.Errorf("the stream was cut: %v", err)
	}
}

func TestEvents_TheListHasTheNewestOrWhatFollows(t *testing.T) {
	w := newWorld(t)
	for range 5 {
		w.happen(api.EventBackend, "a.example")
	}
	for query, want := range map[string]string{"": "1 2 3 4 5", "?limit=2": "4 5", "?after=1&limit=2": "2 3",
		"?kinds=name": "", "?severity=error": "", "?names=a.example&limit=1": "5", "?after=77": "1 2 3 4 5",
		"?since=2100-01-01T00:00:00Z": ""} {
		var list api.EventList
		err := json.Unmarshal([]byte(w.send(http.MethodGet, "/api/v1/events"+query, "").body), &list)
		var got []string
		for _, e := range list.Events {
			got = append(got, strconv.FormatUint(e.Sequence, 10))
		}
		if err != nil || strings.Join(got, " ") != want || list.Oldest != 1 || list.Newest != 5 ||
			list.Missed != (query == "?after=77") {
			t.Errorf("%s: %v, %+v, want %s", query, err, list, want)
		}
	}
	for _, query := range []string{"?kinds=x", "?severity=bad", "?after=-1", "?limit=0", "?since=yesterday",
		"?names=a&names=b"} {
		if r := w.send(http.MethodGet, "/api/v1/events"+query, ""); r.status != http.StatusBadRequest {
			t.Errorf("%s: %d", query, r.status)
		}
	}
}
