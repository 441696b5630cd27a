// Package cli is the commands of gslbctl, one file per command over the typed
// client of shared/api. A command asks nodes, and prints what they say; it
// decides nothing about backends itself. Run has no state beyond its
// arguments, so tests run it as a function.
package cli
