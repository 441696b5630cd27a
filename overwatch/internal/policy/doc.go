// Package policy selects the backends of a name and their shares of the answers. Package publish uses policy to compute
// the decision for each name; explain repeats decisions, and config validates settings against the declared algorithms.
//
// Decisions are pure functions without clock, randomness or I/O, so that an explanation repeats the decision for a
// client exactly. The package must not own state or depend on configuration, DNS or storage packages. Values are
// immutable and safe for concurrent use. A LocationTable and a ScheduleCache cache results and are safe for concurrent
// use.
package policy
