// Package failback stores the regions of domains that await failback. These regions were down, and their clients stay
// in other regions until an operator requests the failback, or until the region could serve for a time
// (domains[].failback).
//
// The publisher reports the regions in use after each decision (Tracker.Observe), and decides with Tracker.Awaiting.
// control passes the requests of operators and the changes of other nodes. The Tracker stores its own changes, and the
// store replicates them. The package must not decide about answers: package policy does.
//
// A region begins to await failback when it was in the answers, too few of its backends may serve, and another region
// answers. Only this node's own observations have this effect. A change of another node, a start and a changed
// configuration have no effect on other regions, so that nodes with different observations do not overwrite each other
// repeatedly.
package failback
