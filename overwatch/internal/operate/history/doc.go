// Package history keeps what a node did: readings of the last minute, a point for each minute of the last day and one for
// each hour of the last thirty. It reads totals that others count, so it costs them nothing; its memory does not grow,
// and a file carries it over a restart. A *Recorder may be used from any goroutine.
package history
