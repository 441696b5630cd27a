package httpapi

import (
	"bytes"
	"cmp"
	_ "embed"
	"net/http"
	"strconv"
	"strings"
	"time"

	"gslb.internal/overwatch/internal/operate/console"
	"gslb.internal/shared/api"
)

// frontPage redirects a browser from the root path to the API documentation if the node has no console.
//
//go:embed docs/front.html
var frontPage []byte

// besideTheAPI returns the operations of the listener outside the API: the files of the console, or else the front
// page, and the metrics if they have no separate listener.
func (s *Server) besideTheAPI() []Operation {
	list := []Operation{
		{Method: get, Path: "/", handle: file("text/html; charset=utf-8", frontPage), Role: api.RoleNone},
	}
	if s.o.API.Console {
		list = s.signInOperations()
		for _, f := range console.Files() {
			list = append(list, Operation{Method: get, Path: f.Path, handle: consoleFile(f), Role: api.RoleNone})
		}
	}
	if s.o.Metrics != nil {
		list = append(list, Operation{Method: get, Path: "/metrics", handle: (*Server).getMetrics, Role: api.RoleRead})
	}
	return list
}

// consoleFile returns a handler that serves a file of the console, compressed for clients that accept gzip. Browsers
// cache the file and revalidate it by its ETag.
func consoleFile(f console.File) handler {
	return func(_ *Server, c *call) (answer, error) {
		tag, content := f.Tag, f.Content
		if acceptsGzip(c.Request) {
			tag, content = strings.TrimSuffix(tag, `"`)+`-gzip"`, f.Packed
			c.Header("Content-Encoding", "gzip")
		}
		for name, value := range map[string]string{"Content-Type": f.Type, "ETag": tag, "Cache-Control": "no-cache",
			"Vary": "Accept-Encoding", "Content-Security-Policy": console.Policy, "Referrer-Policy": "no-referrer"} {
			c.Header(name, value)
		}
		c.Abort()
		http.ServeContent(c.Writer, c.Request, "", time.Time{}, bytes.NewReader(content))
		return answer{}, nil
	}
}

// acceptsGzip reports whether a request names gzip in Accept-Encoding without a quality of 0, and has no range.
func acceptsGzip(r *http.Request) bool {
	if r.Header.Get("Range") != "" {
		return false
	}
	for encoding := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		name, quality, _ := strings.Cut(strings.ReplaceAll(encoding, " ", ""), ";q=")
		value, err := strconv.ParseFloat(cmp.Or(quality, "1"), 64)
		if strings.EqualFold(name, "gzip") && err == nil && value > 0 {
			return true
		}
	}
	return false
}

// getMetrics answers GET /metrics if api.address equals metrics.address.
func (s *Server) getMetrics(c *call) (answer, error) {
	c.Abort()
	s.o.Metrics.ServeHTTP(c.Writer, c.Request)
	return answer{}, nil
}
