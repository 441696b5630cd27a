// Package zone is the DNS view: which zones and names this node is authoritative for and what each name answers,
// compiled so that a query costs one look into an index and a copy. It reads nothing and has no clock; it does not
// listen and does not decide who answers (packages dnsserver and policy do).
//
// A View has two levels. Its zones and their indexes of names never change: other names make another View, which New
// builds from the one before, sharing with it the zones and the names that stay as they are. Each name points to what
// it answers now, and a Writer replaces that pointer when backends come and go, so a change of health costs the same
// with ten names and with a hundred thousand. Readers need no lock; a Writer and a Turns belong to one goroutine each.
package zone
