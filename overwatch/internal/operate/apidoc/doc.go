// Package apidoc makes the OpenAPI 3.1 document of the HTTP API: from httpapi's table of operations, from the Go types
// of shared/api, and from their doc comments, which are its descriptions. Its test writes the document that httpapi
// serves, and holds it against the code; no program links it.
package apidoc
