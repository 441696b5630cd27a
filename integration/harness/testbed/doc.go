// Package testbed has the common parts of tests with real processes: a run that leaves nothing behind (Main), a site of
// nodes, agents and backends that is started and watched (Site), waiting for a state (Until), the programs that judge
// answers (Judge), and what programs print and count (Said, Metric).
//
// Everything here takes a *testing.T and fails the test, so it is called from the test's own goroutine. A package of
// tests has a TestMain that ends with Main.
package testbed
