// Package keybackup implements backups of a node's signing keys. It stores the files of a key directory in one file
// that is encrypted with a passphrase, and restores them. Package cli calls it (gslbctl dnssec backup and restore). It
// never sends a request: the HTTP API never transports private keys.
//
// The file has the age format (https://age-encryption.org/v1) with scrypt, and contains a tar archive. The command age
// -d FILE | tar x opens it without gslbctl.
package keybackup
