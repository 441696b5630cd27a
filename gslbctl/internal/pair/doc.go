// Package pair owns the starting configurations that gslbctl init writes: matching files for
// overwatch nodes and an agent, with fresh keys. Package cli calls it. It knows the keys of these
// only the files of the two programs. It never overwrites a file and makes no request.
package pair
