// Package command owns the command line that gslb-overwatch, gslb-agent and gslb share: flags,
// signals turned into a context, and exit codes. Each program's main calls it with its Role, which
// does the work.
//
// It never starts a goroutine that outlives Main, and holds no state.
package command
