package httpapi

import (
	"bytes"
	_ "embed"
	"net/http"
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
		list = nil
		for _, f := range console.Files() {
			list = append(list, Operation{Method: get, Path: f.Path, handle: consoleFile(f), Role: api.RoleNone})
		}
	}
	if s.o.Metrics != nil {
		list = append(list, Operation{Method: get, Path: "/metrics", handle: (*Server).getMetrics, Role: api.RoleRead})
	}
	return list
}

// consoleFile returns a handler that serves a file of the console. Browsers cache the file and revalidate it by its
// ETag.
func consoleFile(f console.File) handler {
	return func(_ *Server, c *call) (answer, error) {
		for name, value := range map[string]string{"Content-Type": f.Type, "ETag": f.Tag, "Cache-Control": "no-cache",
			"Content-Security-Policy": console.Policy, "Referrer-Policy": "no-referrer"} {
			c.Header(name, value)
		}
		c.Abort()
		http.ServeContent(c.Writer, c.Request, "", time.Time{}, bytes.NewReader(f.Content))
		return answer{}, nil
	}
}

// getMetrics answers GET /metrics if api.address equals metrics.address.
func (s *Server) getMetrics(c *call) (answer, error) {
	c.Abort()
	s.o.Metrics.ServeHTTP(c.Writer, c.Request)
	return answer{}, nil
}
