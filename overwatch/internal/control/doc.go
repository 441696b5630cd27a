// Package control puts changes into force: of the configuration file, of the API, of other nodes' operators, of the
// geolocation database, and of the addresses of host names. All that changes what is answered or checked goes through
// here, one change after the other.
//
// It owns the configuration in force (State), which is the file joined with the API's definitions, and tells the parts
// of the node what follows from it (Plane). The root makes both; the API, signals and replication call them, from any
// goroutine. It starts no goroutine of its own. It never answers a query, and never puts half of a change into force.
package control
