// Package dnsask asks one DNS server for the addresses of names, over TCP
// (RFC 7766): nothing is lost on the way, and it goes through an SSH tunnel.
// It is no resolver: what the server says is the answer.
package dnsask
