// Package monitor implements the checks of the agent's backends. Each backend has a goroutine that checks it
// continuously and applies the thresholds of its health check. Package agent runs it and passes each change to package
// report. Snapshot returns the state of all backends at any time.
//
// It never communicates with an overwatch node. Package check performs the checks.
//
// Concurrency: the goroutine of a backend owns its state and publishes immutable values; Snapshot
// takes no lock.
package monitor
