package httpapi // inside: it shares world_test.go

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"strings"
	"testing"
	"time"

	"gslb.internal/shared/api"
)

// sendBlindly opens a connection and sends a request with its whole body. It reads the response afterward.
func (w *world) sendBlindly(path, header string, size int, chunked bool) (*http.Response, error) {
	w.t.Helper()
	conn, err := net.Dial("tcp", w.server.Addr().String())
	w.must(err)
	defer conn.Close()
	w.must(conn.SetDeadline(time.Now().Add(deadline)))
	framing := fmt.Sprintf("Content-Length: %d", size)
	if chunked {
		framing = "Transfer-Encoding: chunked"
	}
	if _, err := fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\n%s\r\n%s\r\n", path,
		w.server.Addr(), framing, header); err != nil {
		return nil, err
	}
	var to io.Writer = conn
	if chunked {
		chunks := httputil.NewChunkedWriter(conn)
		to = chunks
	}
	if _, err := io.Copy(to, io.LimitReader(spaces{}, int64(size))); err != nil {
		return nil, fmt.Errorf("sending: %w", err)
	}
	if chunked {
		if _, err := io.WriteString(conn, "0\r\n\r\n"); err != nil {
			return nil, err
		}
	}
	return http.ReadResponse(bufio.NewReader(conn), nil)
}

// spaces is an endless text.
type spaces struct{}

func (spaces) Read(p []byte) (int, error) { return copy(p, strings.Repeat(" ", len(p))), nil }

// A client that reads nothing while it sends still gets the reason of a refusal.
func TestBody_WhoSendsBeforeReadingGetsTheAnswer(t *testing.T) {
	w := newWorld(t)
	withTokens(w)
	admin := "Authorization: Bearer " + tokenOf("admin") + "\r\n"
	for name, c := range map[string]struct {
		path, header string
		size         int
		status       int
	}{
		"above the limit of a document": {"/api/v1/document/apply", admin, api.MaxDocument + 8<<20, 413},
		"above the limit of others":     {"/api/v1/servers", admin, 24 << 20, 413},
		"above the limit of a file":     {"/api/v1/config/validate", admin, 24 << 20, 413},
		"without a token":               {"/api/v1/document/apply", "", 12 << 20, 401},
		"of a path that there is not":   {"/api/v1/documents", admin, 12 << 20, 404},
	} {
		for _, chunked := range []bool{false, true} {
			res, err := w.sendBlindly(c.path, c.header, c.size, chunked)
			if err != nil {
				t.Errorf("%s, chunked %v: %v", name, chunked, err)
				continue
			}
			if res.StatusCode != c.status {
				t.Errorf("%s, chunked %v: %s, want %d", name, chunked, res.Status, c.status)
			}
		}
	}
}

// A client with Expect: 100-continue is refused before it sends the body.
func TestBody_WhoAsksFirstSendsNothing(t *testing.T) {
	w := newWorld(t)
	conn, err := net.Dial("tcp", w.server.Addr().String())
	w.must(err)
	defer conn.Close()
	w.must(conn.SetDeadline(time.Now().Add(deadline)))
	_, err = fmt.Fprintf(conn, "POST /api/v1/servers HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\n"+
		"Expect: 100-continue\r\nContent-Length: %d\r\n\r\n", w.server.Addr(), 24<<20)
	w.must(err)
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || res.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("got %v, %v, want 413", res, err)
	}
}
