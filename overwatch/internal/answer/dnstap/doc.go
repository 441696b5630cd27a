// Package dnstap sends queries and responses to a dnstap consumer (https://dnstap.info) over Frame Streams. Package
// dnsserver selects the queries and passes them to a Worker; the root runs the Tap. The package must not delay answers.
//
// A Worker belongs to one goroutine that answers queries. Worker.Record encodes a query and its response into the
// buffer of the worker, whose size is fixed. It does not wait, allocate or perform system calls. Without a connection,
// or if the buffer is full, it drops the messages and counts them. Tap.Run is the only reader of the buffers. It
// connects to the consumer, sends the buffers and reconnects after an error.
//
// The package encodes the protobuf messages itself, because the generated code of golang-dnstap allocates for each
// message. The frames in a buffer are sent without another copy, which golang-framestream needs.
package dnstap
