// Package pair creates the configurations that gslbctl init writes: matching files for overwatch nodes and an agent,
// with new keys. Package cli calls it. It knows only the configuration keys of these files. It never overwrites a file
// and sends no request.
package pair
