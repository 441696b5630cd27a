// Package cli owns the commands of gslbctl, one file per command, on top of the typed client of
// shared/api. gslbctl's main calls Run. A command asks nodes and prints their answers; it never
// decides anything about backends itself. Run has no state beyond its arguments, so tests call it
// as a function.
package cli
