// Package zone holds the DNS view: the zones and names that this node is authoritative for and the answers of each
// name, compiled so that a query costs one look-up in an index and a copy. publish builds views and gives names their
// answers, dnsserver asks a view for each query, and explain asks it for people. The package reads nothing and has no
// clock; it does not listen, and does not decide who answers (packages dnsserver and policy do).
//
// A View has two levels. Its zones and their indexes of names never change: other names make another View, which New
// builds from the one before, sharing with it the zones and the names that stay as they are. Each name points to its
// present answers, and a Writer replaces that pointer when backends come and go, so a change of health costs the same
// with ten names and with a hundred thousand. Readers need no lock; a Writer and a Turns belong to one goroutine each.
package zone
