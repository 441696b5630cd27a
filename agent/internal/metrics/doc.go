// Package metrics serves the agent's figures in the Prometheus text format, on the address that metrics.address names.
// What the figures are is the business of those who register them.
package metrics
