// Package zone holds the DNS view: the authoritative zones and names of this node, with compiled answers. A query costs
// one index look-up and a copy. Package publish builds views and sets the answers of names, dnsserver resolves queries
// in a view, and explain resolves names for operators. The package does no I/O, has no clock, and makes no routing
// decisions (package policy does).
//
// A View has two levels. Its zones and their name indexes are immutable: New builds another View for other names, and
// shares unchanged zones and names with the previous view. Each name has an atomic pointer to its current answers. A
// Writer replaces the pointer when a decision changes, so the cost of a health change does not depend on the number of
// names. Readers need no lock. A Writer or a Rotations must be used by one goroutine at a time.
package zone
