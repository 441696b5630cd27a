// Package harness runs a cluster of real gslb programs on loopback: it builds them, finds ports, writes their files,
// starts, kills, freezes and restarts them, stores their output, and queries the nodes over DNS and HTTP. Story has the
// events of a cluster and the programs' output in order. The tests of this module and the demo of `make run` use it.
//
// It uses only external interfaces of the programs: configuration keys, exit codes, the HTTP API and DNS. It handles
// only processes that it has started, and Cluster.Close leaves no process, port or file behind. Exported methods are
// safe for concurrent use unless their comment states otherwise. Methods that wait have a context or a documented time
// limit.
package harness
