// Package definitions is what the API has defined beside servers: domains, regions, mappings of networks, and settings that lie
// over those of the configuration file. It joins them with a file's configuration, says what a change of them must write, and
// knows which settings the API may change at all. It does no I/O and keeps no state: who owns a Set publishes it and stores its
// changes.
//
// A Set is immutable once others can see it; a Draft makes the next one and belongs to one goroutine.
package definitions
