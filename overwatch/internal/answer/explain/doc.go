// Package explain explains answers: the selected backends with their shares, the reasons for excluding others, and the
// answers in other situations. httpapi calls it for /routing, dnsserver for `_why.` queries. It resolves names in the
// view of the DNS server and repeats the decision with the stored decision input, so that explanations agree with the
// answers. The package makes no decisions itself. Its state is a pool of rotations. All functions are safe for
// concurrent use.
package explain
