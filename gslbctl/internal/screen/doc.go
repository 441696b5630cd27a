// Package screen implements the terminal functions of gslbctl: it detects terminals and their width, and shows the live
// view. The main package passes Show to package cli, which supplies the contents. It sends no request.
//
// The live view uses Bubble Tea, which reads keys, draws, and restores the terminal, even after a panic.
package screen
