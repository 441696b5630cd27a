// Package chain follows the chain of trust as a validating resolver does (RFC 4035 section 5): from the DS records of the parent
// to a zone's keys, and from these to the signatures of its answers, server by server. It judges; it caches and trusts nothing.
package chain
