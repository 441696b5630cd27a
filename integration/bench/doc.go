//go:build linux

// Command bench compares DNS servers on loopback: gslb-overwatch and other servers with load balancing or high speed.
// It starts the servers one after the other in several rounds. The server runs on one core, and the load client on
// another core. The result is the server's CPU time per answered query. README.md has the method, its limits and the
// results.
package main
