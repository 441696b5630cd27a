// Package metrics serves the Prometheus endpoint of an overwatch node. It owns the endpoint and the gauges that it
// reads from their owners at each scrape. Counters belong to other packages. The root starts one Server. Every label
// value is from the configuration, a closed set, or an admitted backend: the package never uses a name from a query.
package metrics
