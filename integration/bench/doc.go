//go:build linux

// Command bench measures DNS servers side by side, on loopback: gslb-overwatch and others that steer or serve fast.
// Each is started in turn, round after round, pinned to one core with the load client on another, and the figure that
// counts is the server's CPU time per answered query. README.md has the method, its limits and what was measured.
package main
