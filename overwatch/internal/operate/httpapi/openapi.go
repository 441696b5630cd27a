package httpapi

import (
	_ "embed"
	"net/http"

	"gslb.internal/overwatch/internal/operate/console"
)

// The OpenAPI document, which the test of package apidoc writes with -update, and the HTML page that displays it.
var (
	//go:embed openapi.json
	openAPI []byte
	//go:embed docs/index.html
	docsPage []byte
	//go:embed docs/docs.js
	docsProgram []byte
	//go:embed docs/page.js
	docsPageProgram []byte
	//go:embed docs/docs.css
	docsStyle []byte
)

// docsPolicy is the Content-Security-Policy of the page: only sources of this node, no inline code, no frames.
const docsPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; " +
	"form-action 'none'; frame-ancestors 'none'"

// getDocs answers GET /api/docs with the console, which shows the view of the API at this path, or with the page of a
// node without a console.
func (s *Server) getDocs(c *call) (answer, error) {
	if s.o.API.Console {
		return consoleFile(console.Page())(s, c)
	}
	return file("text/html; charset=utf-8", docsPage)(s, c)
}

// file returns a handler that serves constant bytes.
func file(kind string, content []byte) handler {
	return func(_ *Server, c *call) (answer, error) {
		c.Header("Content-Security-Policy", docsPolicy)
		c.Header("Referrer-Policy", "no-referrer")
		c.Abort()
		c.Data(http.StatusOK, kind, content)
		return answer{}, nil
	}
}
