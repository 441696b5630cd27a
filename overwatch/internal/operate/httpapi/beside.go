package httpapi

import (
	_ "embed"

	"gslb.internal/shared/api"
)

// frontPage leads a browser that was given only the listener's address to the documentation.
//
//go:embed docs/front.html
var frontPage []byte

// besideTheAPI returns what the listener answers that is no part of the API and its document.
func (s *Server) besideTheAPI() []Operation {
	list := []Operation{
		{Method: get, Path: "/", handle: file("text/html; charset=utf-8", frontPage), Role: api.RoleNone},
	}
	if s.o.Metrics != nil {
		list = append(list, Operation{Method: get, Path: "/metrics", handle: (*Server).getMetrics, Role: api.RoleRead})
	}
	return list
}

// getMetrics answers GET /metrics where api.address and metrics.address are one.
func (s *Server) getMetrics(c *call) (answer, error) {
	c.Abort()
	s.o.Metrics.ServeHTTP(c.Writer, c.Request)
	return answer{}, nil
}
