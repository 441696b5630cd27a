// Package explain explains answers: which backends, in what shares, which are left out and why, and what would be
// answered otherwise. httpapi calls it for /routing, dnsserver for `_why.` questions. It asks the view that DNS answers
// from by the function that answers DNS, and repeats the policy's decision with the view's own data, so that it never
// says anything else than what is served. It has no state but a pool of schedules, and reads the clock only to tell how
// long finding an answer took. All functions may be called from any goroutine.
package explain
