// Package validation makes this node's own checks of backends: it schedules the checks, applies the thresholds, and
// reports each result to the registry.
//
// The root runs one Validator. httpapi, control and holds call CheckNow for immediate checks; the registry adds Hints.
// The package must not decide about a status: the registry does.
//
// Concurrency: the goroutine of Run owns the schedule, and each running check has a goroutine.
package validation
