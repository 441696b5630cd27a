// Package trust authenticates messages of agents. It stores which certificate belongs to which agent, and for which
// services an agent may report backends.
//
// Package gossip calls Open for each message. httpapi and control call the methods for operators. The root runs
// DeleteSilentPins. Only this package makes values of Agent: the message of an Agent was sealed by the pinned key of
// its id, or in a session with the holder of this key. The package must not know backends or health.
//
// Concurrency: all methods are safe for concurrent use, and the package starts no goroutine. Messages of different
// agents are verified concurrently. Only pinning waits for the disk.
package trust
