// Package httpapi serves the HTTP API of an overwatch node. The root starts one Server; a request passes the steps of
// Server.serve, then the handler of its operation, which calls one owner and returns the answer to encode. There is one
// file per resource, and one table of operations.
//
// It decides who may ask, whether a request can be understood, and with if_safe whether a change may be made. It keeps
// caches of the configuration and locks between changes, and nothing of backends. Reads come from the registry's view,
// which takes no lock, so that a client that polls everything in a loop slows neither DNS nor reports. Handlers run
// concurrently; changes of overrides are made one after the other.
package httpapi
