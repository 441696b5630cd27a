// Package screen owns the terminal of gslbctl: whether a file is one, how wide it is, and the live
// view that fills it. gslbctl's main passes Show to package cli, which supplies the contents. It
// sends no request to a node.
//
// The live view runs on Bubble Tea, which reads keys, draws and restores the terminal, after a
// panic too.
package screen
