// Package definitions owns the form of the API's definitions, which are all its objects but servers with an address:
// domains, regions, mappings of networks, servers by host name, announced agents, and settings that lie over those of
// the configuration file. It joins them with the file's configuration, computes the records that a change must write,
// and knows which settings the API may change. control holds the Set in force and stores its changes; httpapi drafts
// them. The package does no I/O and keeps no state.
//
// A Set is immutable once others can see it. A Draft makes the next one and belongs to one goroutine.
package definitions
