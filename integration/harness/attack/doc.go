// Package attack attacks a node: with storms of packets that are wrong, random or expensive, and with crowds of
// connections that say nothing, drip, or never read. All of it comes from addresses that no agent has, so that limits
// per address hit the attacker alone.
package attack
