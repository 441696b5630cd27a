// Package cmdline is the command line of gslbctl without its commands: streams, shared flags, the selection of nodes,
// the effect of a command, completion, suggestions, questions, progress, and output as table, JSON or YAML. The
// commands in package cli call it. It sends requests only through package fleet and knows no kind of object. An App is
// for one goroutine, except Progress.
package cmdline
