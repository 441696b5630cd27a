// Package render owns the output of gslbctl: aligned tables, JSON and YAML of the API's values.
// Package cli calls it. It never makes a request and never reads a clock. It replaces characters in
// nodes' texts that could control a terminal.
package render
