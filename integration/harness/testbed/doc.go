// Package testbed has the common parts of tests with real processes: a run with complete cleanup (Main), a site of
// nodes, agents and backends that is started and watched (Site), waiting for a state (Until), programs that validate
// answers (Judge), and the output and metrics of programs (Said, Metric).
//
// All functions take a *testing.T and fail the test, so they must be called from the goroutine of the test. A package
// of tests has a TestMain that ends with Main.
package testbed
