// Package store keeps what must outlive the process: pins, overrides and the last known status of backends.
//
// It is bbolt behind typed accessors, and the only package that knows bbolt. It decides nothing and caches nothing: owners load
// what they need at start, keep it in memory, and write their changes through. Every write has reached the disk when it returns.
// A Store may be used from any number of goroutines; writes that come at the same time share one transaction.
package store
