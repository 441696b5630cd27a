// Package definitions owns the form of what the API defines beside servers: domains, regions, mappings of networks, and
// settings that lie over those of the configuration file. It joins them with the file's configuration, computes what a
// change must write, and knows which settings the API may change. control holds the Set in force and stores its
// changes; httpapi drafts them. The package does no I/O and keeps no state.
//
// A Set is immutable once others can see it. A Draft makes the next one and belongs to one goroutine.
package definitions
