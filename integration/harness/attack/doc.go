// Package attack attacks a node: with storms of packets that are malformed, random or expensive, and with crowds of
// connections that are silent, drip, or never read. All packets have source addresses that no agent uses, so that
// limits per address affect only the attacker.
package attack
