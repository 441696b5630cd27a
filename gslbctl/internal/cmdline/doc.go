// Package cmdline implements the common parts of the commands: streams, shared flags, selection of nodes, effects,
// completion, suggestions, questions, progress, and output as table, JSON or YAML. The commands in package cli call it.
// It sends requests only through package fleet and depends on no kind of object. An App is for one goroutine, except
// Progress.
package cmdline
