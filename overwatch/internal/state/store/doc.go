// Package store keeps what must outlive the process: pins, overrides and the last known status of backends.
//
// It is bbolt behind typed accessors, and the only package that knows bbolt. It decides nothing and caches nothing: owners load
// what they need at start, keep it in memory, and write their changes through. Every write has reached the disk when it returns.
// A Store may be used from any number of goroutines; writes that come at the same time share one transaction.
//
// # Files
//
// All in data_dir, all 0600: gslb.lock, held by the process that uses the directory; gslb.db; gslb.db.copy, the last copy, made a
// moment after pins or overrides changed and verified before it got that name; and gslb.db.damaged-<time>, what was set aside.
//
// # Damage
//
// bbolt believes what it finds in its file, which it maps into memory: a damaged file makes it panic, fault, loop, or return
// other data than was stored, and some of that happens in goroutines of its own, where no caller can recover (bbolt issues 335
// and 778). Therefore no file is given to bbolt before this package has read it as it would read anything from outside: every page
// that can be reached, its place, its bounds and its order, then a checksum in every record and one over all records of a bucket. A
// file that does not pass is set aside, and the copy takes its place if that passes.
package store
