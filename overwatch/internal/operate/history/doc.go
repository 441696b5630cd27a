// Package history stores the metrics of a node over time: readings of the last minute, points for each minute of the
// last day and points for each hour of the last thirty days. The root runs one Recorder, and httpapi reads it. The
// package reads the totals of other packages. Its memory is bounded, and a file stores the points across restarts. A
// *Recorder is safe for concurrent use.
package history
