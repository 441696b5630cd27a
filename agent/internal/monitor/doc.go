// Package monitor owns the checks of the agent's backends. Each backend has a goroutine that probes
// it from start to end and applies the thresholds of its health check. Package agent runs it and
// passes each change on to package report. Snapshot returns the state of all backends at any time.
//
// It never talks to an overwatch node. Package check makes the probes.
//
// Concurrency: the goroutine of a backend owns its state and publishes immutable values; Snapshot
// takes no lock.
package monitor
