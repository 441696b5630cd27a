// Package demo implements `make run`: a cluster of real gslb programs on loopback, with two overwatch nodes, three
// agents in two regions and four small backends. It shows a client's view of the cluster while programs are killed and
// restarted. On a terminal it is a live view with keys. Otherwise it is a transcript of one failover of each kind,
// compared with the promised times.
//
// Every number on the screen is from a DNS answer, the nodes' API or the process table. One goroutine at a time, which
// runs the actions, changes the processes of the scene.
package demo
