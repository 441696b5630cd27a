// Package metrics serves the Prometheus endpoint of an overwatch node. It owns the endpoint and the gauges that are
// read from their owners at each scrape; counters belong to the packages that count. The root starts one Server. Every
// label value is from a closed set: the package never uses a name from a query, or a text that an agent chose.
package metrics
