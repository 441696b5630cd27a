// Package screen owns the terminal of gslbctl: whether a file is one, how wide
// it is, and the live view that fills it. gslbctl's main gives it to package
// cli, which says what is shown. It never asks a node and never writes to a
// terminal that it has not taken.
//
// The live view runs on Bubble Tea, which reads keys, draws and gives the
// terminal back, after a panic too.
package screen
