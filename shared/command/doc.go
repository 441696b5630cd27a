// Package command is the command line that gslb-overwatch, gslb-agent and gslb have in common: flags, signals turned
// into a context, and exit codes. What a program does is its Role.
//
// It starts no goroutine that outlives Main and holds no state.
package command
