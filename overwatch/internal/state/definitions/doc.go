// Package definitions owns the form of the API's definitions: domains, regions, mappings of networks, servers by host
// name, announced agents, and overlays of the configuration file. Servers by address belong to package inventory. The
// package joins definitions with the configuration of the file, computes the records that a change must write, and
// defines which settings the API may change. control owns the current Set and stores its changes; httpapi drafts
// changes. The package does no I/O and has no state.
//
// A published Set is immutable. A Draft creates the next Set and belongs to a single goroutine.
package definitions
