// Package apidoc makes the OpenAPI 3.1 document of the HTTP API: from one table of operations, from the Go types of
// shared/api, and from their doc comments, which are its descriptions. It is run by a test of httpapi that writes the
// document and holds it against the routes; no program links it.
package apidoc
