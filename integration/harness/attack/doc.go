// Package attack is what a node is attacked with: storms of packets that are wrong, random or expensive, and crowds of
// connections that say nothing, drip, or never read. All of it comes from strangers' addresses, so that what is limited
// per address is theirs.
package attack
