// Package keybackup owns backups of a node's signing keys: it puts the files of a folder of keys into one file that a
// passphrase opens, and back. Package cli calls it (gslbctl dnssec backup and restore). It never makes a request: a
// private key never crosses the HTTP API.
//
// The file is of age (https://age-encryption.org/v1), sealed by scrypt, and holds a tar archive, so that it can be
// also opened without gslbctl: age -d FILE | tar x.
package keybackup
