package httpapi

import (
	_ "embed"
	"net/http"
)

// The OpenAPI document, written by the test of package apidoc with -update, and the page that shows it.
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

// docsPolicy is the Content-Security-Policy of the page: this node only, nothing inline, no frame around it.
const docsPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; " +
	"form-action 'none'; frame-ancestors 'none'"

// file returns a handler that answers with bytes that never change while the process runs.
func file(kind string, content []byte) handler {
	return func(_ *Server, c *call) (answer, error) {
		c.Header("Content-Security-Policy", docsPolicy)
		c.Header("Referrer-Policy", "no-referrer")
		c.Abort()
		c.Data(http.StatusOK, kind, content)
		return answer{}, nil
	}
}
