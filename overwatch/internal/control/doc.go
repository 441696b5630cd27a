// Package control applies changes of the configuration file, of the API, of other nodes, of the geolocation database,
// and of the addresses of host names. All changes of answers and checks pass through this package, one after another.
//
// State is the current configuration: the file merged with the definitions of the API. Plane applies it to the parts of
// the node. The root creates both; the API, signals and replication call them concurrently. The package starts no
// goroutine. A change is applied completely or not at all.
package control
