// Package fleet sends requests to the overwatch nodes of a cluster: to the first node that answers, or to all nodes
// concurrently. It makes changes on every node, or on one node that replicates them, and returns a Result for each
// node. It converts errors of nodes to an exit code and a message with a remedy. Package cmdline and the commands call
// it. It reads no flags and prints no output. A Fleet is for one goroutine; requests to several nodes run concurrently.
package fleet
