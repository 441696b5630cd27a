// Package store owns the persistent data of a node: pins, locks, admin states, servers, definitions, the audit log, and
// the last known status and latency of backends.
//
// The package wraps bbolt with typed accessors, and is the only package that imports bbolt. Owners load their data at
// start, cache it in memory, and write each change through. The package itself caches only the table of replicas. It
// resolves conflicts between versions of replicated objects, and never replaces a refusal with a pin. A write returns
// after the data is on the disk. A Store is safe for concurrent use; concurrent writes share a transaction.
//
// # Files
//
// All files are in data_dir with mode 0600. The process that uses the directory locks gslb.lock. gslb.db is the
// database. gslb.db.copy is the latest verified copy, written soon after changes. gslb.db.damaged-<time> is a damaged
// file that the store has moved away.
//
// # Damage
//
// bbolt maps its file into memory without validation. A damaged file makes bbolt panic, fault, loop, or return data
// that no caller has stored, partly in goroutines of bbolt, where no caller can recover (bbolt issues 335 and 778).
// Therefore this package validates a file like any untrusted input before bbolt opens it: the position, bounds and
// order of each reachable page, then the checksum of each record, and a checksum over all records of each bucket. The
// store moves an invalid file away, and replaces it with the copy if the copy is valid.
package store
