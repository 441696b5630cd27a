// Package apidoc generates the OpenAPI 3.1 document of the HTTP API from httpapi's table of operations, the Go types of
// shared/api, and their doc comments, which become its descriptions. Its test writes the document that httpapi serves,
// and compares it with the code. Programs do not link the package.
package apidoc
