// Package status has the rules that derive a health status from evidence: the truth table of the effective status, the
// ramps of drains and early warnings, mass-failure protection, self-isolation and flapping.
//
// The rules are pure. Callers pass the time and the settings. The package has no clock, no lock and no I/O. Its values
// are not safe for concurrent use. Package registry holds the evidence and applies the rules.
package status
