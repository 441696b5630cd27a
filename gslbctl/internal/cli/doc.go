// Package cli implements the commands of gslbctl, in one file per noun. The main package calls Run. A command reads its
// flags and arguments with package cmdline, sends requests with package fleet, and prints the answers. It makes no
// decision about backends. Run has no state beyond its arguments, so tests can call it.
package cli
