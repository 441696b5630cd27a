// Package httpapi serves the HTTP API of an overwatch node. The root starts one Server. A request passes the steps of
// Server.serve, then the handler of its operation. The handler decodes the request, calls one function, and returns the
// answer. Each resource has its own file, and one table contains all operations.
//
// The package authenticates clients and parses requests. It caches data of the configuration, and stores no other
// state. Reads use the view of the registry, without a lock, so that a client that polls in a loop delays neither DNS
// nor reports. Handlers run concurrently; package changes orders changes.
package httpapi
