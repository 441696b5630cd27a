// Package render turns values of the API into what a person or a program
// reads: aligned tables, JSON and YAML. It knows nothing of commands, makes
// no request and reads no clock. Text that came from a node is shown without
// the characters that could steer a terminal.
package render
