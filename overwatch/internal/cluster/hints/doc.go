// Package hints exchanges hints between overwatch nodes. A hint contains the ids of backends whose failure a node has
// just detected. The receiver checks the backends immediately, instead of at its next interval. A hint has no
// authority: it only causes a check, and only the result of this check counts.
//
// Peers answer with their votes: the results of their own last checks of these backends. If agreement is on
// (overwatch.validation.agree), the registry calls RequestVotes for a failure that waits for votes. Run then repeats
// the hint every askEvery, and passes the votes to the registry, until the registry has decided. Package status has the
// rules.
//
// The registry calls Hint, which adds to a queue and returns. Run sends the queue to all peers that replication
// reaches, over the HTTP API, authenticated by package peerauth. httpapi passes requests of peers to Answer.
//
// Sizes and rates are bounded in both directions: for each node id, and in total, since the holder of the secret
// can state any id. A compromised peer therefore causes at most the checks of totalRate. Lost hints are not
// repeated: the next check of each node finds the failure.
//
// Any goroutine may use an Exchange. The goroutine of Run starts a goroutine for each peer with queued hints.
package hints
