// Package dnsask owns the DNS queries of gslbctl for the addresses of names, over TCP (RFC 7766),
// which loses nothing and works through an SSH tunnel. Package cli calls it. It never resolves: it
// returns the server's own answer.
package dnsask
