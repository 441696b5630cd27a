// Package validation makes this node's own health checks: it keeps a schedule of every backend the registry knows,
// probes each once per interval the way its health check says, and reports the verdict.
//
// The root runs one Validator; httpapi, control and brakes have it check backends at once. It must not decide about a
// backend's status and keeps no result: the registry does. Package check makes the probes themselves.
//
// Concurrency: one goroutine, Run, owns the schedule. A check runs in a goroutine of its own, and while it does, its
// entry's tracker belongs to that goroutine. A slow Report holds up only its own backend.
package validation
