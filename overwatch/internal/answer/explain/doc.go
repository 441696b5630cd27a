// Package explain says why a client is answered what it is answered: which backends, in what shares, which not and why
// not, and what would be otherwise. It asks the view that DNS answers from by the function that answers DNS, and the
// policy with what the view was made from, so it cannot say anything else than what is served. No clock of its own, no I/O;
// everything here may be called from any goroutine.
package explain
