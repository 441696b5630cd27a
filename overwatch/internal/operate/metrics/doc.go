// Package metrics serves the Prometheus endpoint of an overwatch node, and
// reads from the owners, at each scrape, what nobody counts as it happens.
// Counters live with those who count. Every label value is from a closed set.
package metrics
