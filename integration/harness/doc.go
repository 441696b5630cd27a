// Package harness runs a cluster of real gslb programs on loopback: it builds them, finds ports, writes their files,
// starts, kills, freezes and restarts them, keeps what they print, and asks the nodes over DNS and HTTP. Story has the
// events of a cluster and the programs' output in order. The tests beside it and the demo of `make run` use it alike.
//
// It knows the programs only from the outside: configuration keys, exit codes, the HTTP API and DNS. It never adopts a
// process it did not start, and Cluster.Close leaves no process, port or file behind. Every exported method may be
// called from any goroutine unless it says otherwise; methods that wait take a context or have a stated bound.
package harness
