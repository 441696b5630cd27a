// Package datadir owns the agent's data directory. It creates the directory, checks that it is writable, and locks it
// against a second agent, which would use the same key and sequence numbers. It also records the schema of the files
// and rejects a later schema. Package agent opens it before any other resource. Other packages read and write the
// files.
//
// The lock belongs to the process and ends with it, even after a crash. A remaining lock file is harmless.
package datadir
