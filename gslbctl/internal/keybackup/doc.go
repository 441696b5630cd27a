// Package keybackup puts the signing keys of a node into one file that a passphrase opens, and back into the folder
// that they are of. It works on files alone: a private key never crosses the HTTP API.
//
// The file is of age (https://age-encryption.org/v1), sealed by scrypt, and holds a tar archive, so that it can be
// opened without gslbctl too: age -d FILE | tar x.
package keybackup
