// Package metrics owns the agent's HTTP endpoint for Prometheus, at the address of metrics.address.
// Package agent starts it. It never defines a metric: each package registers its own.
package metrics
