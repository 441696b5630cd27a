// Package command implements the common command line of gslb-overwatch, gslb-agent and gslb: flags, a context that ends
// with a signal, and exit codes. The main function of each program calls it with its Role.
//
// It starts no goroutine that outlives Main, and has no state.
package command
