// Package store owns the data on disk that must outlive the process: pins, locks, overrides, servers, definitions, the
// audit log, and the last known status and latency of backends.
//
// It is bbolt behind typed accessors, and the only package that imports bbolt. Owners load their data at start, keep it
// in memory, and write each change through. The package itself keeps only the table of replicas in memory. It decides
// only between versions of what nodes share, and puts no pin in the place of a refusal. Every write has reached the
// disk when it returns. A Store may be used from any number of goroutines; concurrent writes share one transaction.
//
// # Files
//
// All files are in data_dir with mode 0600. gslb.lock is held by the process that uses the directory. gslb.db is the
// database. gslb.db.copy is its last copy, made soon after changes and verified before it gets that name.
// gslb.db.damaged-<time> is a damaged file that was set aside.
//
// # Damage
//
// bbolt maps its file into memory and trusts it. A damaged file makes bbolt panic, fault, loop, or return data that was
// never stored, partly in goroutines of its own, where no caller can recover (bbolt issues 335 and 778). Therefore this
// package reads a file like any untrusted input before bbolt opens it: every page that can be reached, its place, its
// bounds and its order, then a checksum in every record and one over all records of a bucket. A file that fails is set
// aside, and the copy replaces it if that passes.
package store
