// Package pair writes a matching pair of configurations, of an overwatch node
// and of an agent, with fresh keys. It knows the keys of the two files and
// nothing else of the roles; the roles themselves read what it writes in a test.
package pair
