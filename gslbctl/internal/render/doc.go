// Package render formats the output of gslbctl: aligned tables, JSON and YAML of API values. Package cli calls it. It
// never sends a request and never reads a clock. It replaces characters of nodes' texts that could control a terminal.
package render
