// Package cli has the commands of gslbctl, in files by noun. The main package calls Run. A command reads its flags and
// arguments with package cmdline, sends requests with package fleet, and prints the answers. It makes no decision about
// backends. Run has no state beyond its arguments, so tests call it as a function.
package cli
