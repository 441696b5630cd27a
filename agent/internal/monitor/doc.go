// Package monitor checks the agent's backends: each in a goroutine of its own, from the first moment until the end, and
// each through the thresholds of its health check. It tells at once when a backend's state changes and shows the state of
// all at any time.
//
// It does not report to anybody and knows no overwatch node; what a probe is, is package check.
//
// Concurrency: the goroutine of a backend owns its state and publishes an immutable value; Snapshot takes no lock.
package monitor
