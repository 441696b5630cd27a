// Package definitions owns the format of the API's definitions: domains, regions, mappings of networks, servers with
// host names, announced agents, and overlays of the configuration file. Package inventory owns servers with addresses.
// This package merges definitions into the configuration of the file, computes the records that a change writes, and
// defines which settings the API may change. control owns the current Set and stores its changes; httpapi drafts
// changes. The package does no I/O and has no state.
//
// A published Set is immutable. A Draft creates the next Set and belongs to a single goroutine.
package definitions
