package httpapi

import (
	_ "embed"
	"net/http"
)

// The OpenAPI document, which the test of package apidoc writes with -update, and the HTML page that displays it.
var (
	//go:embed openapi.json
	openAPI []byte
	//go:embed docs/index.html
	docsPage []byte
	//go:embed docs/docs.js
	docsProgram []byte
	//go:embed docs/docs.css
	docsStyle []byte
)

// docsPolicy is the Content-Security-Policy of the page: only sources of this node, no inline code, no frames.
const docsPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; " +
	"form-action 'none'; frame-ancestors 'none'"

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
