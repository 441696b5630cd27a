// Package httpapi serves the HTTP API of an overwatch node: it decodes a
// request, calls one owner and encodes what that says, one file per resource.
// Nothing is decided here but who may ask and whether a request can be
// understood, and no state is kept but the connections.
//
// Reads come from the registry's view, which takes no lock, so a client that
// polls everything in a loop never slows an answer of the DNS or a report of
// an agent. Handlers run concurrently; the order of two changes of the same
// override is that of their calls.
package httpapi
