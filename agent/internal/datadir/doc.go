// Package datadir owns the agent's data directory. It creates the directory, checks that it is
// writable, and locks it against a second agent, which would use the same key and sequence numbers.
// It also records the schema of the files and refuses a newer one. Package agent opens it before
// everything else. It never reads the meaning of the files.
//
// The lock belongs to the process and ends with it, however it ends. A lock file left behind does
// no harm.
package datadir
