// Package demo runs the demo of `make run`: a cluster of real gslb programs on loopback, two overwatch nodes, three
// agents in two regions and four small backends, and a client's view of it while things are killed and brought back.
// With a terminal it is a live view that obeys single keys; without one it is a transcript of one failover of each
// kind, held against the promised times.
//
// Every figure on the screen comes from a DNS answer, the nodes' API or the process table; nothing is made up. The
// scene's processes are changed by one goroutine at a time, the one that runs the actions.
package demo
