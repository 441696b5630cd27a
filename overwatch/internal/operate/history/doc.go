// Package history keeps figures of a node over time: readings of the last minute, a point for each minute of the last
// day and one for each hour of the last thirty days. The root runs one Recorder; httpapi reads it. It reads totals that
// others count and counts nothing itself. Its memory is bounded, and a file carries the points over a restart. A
// *Recorder may be used from any goroutine.
package history
