// Package trust decides which messages of agents are believed: which certificate belongs to which agent, and for which
// services the agent may speak. gossip calls Open; httpapi and control call the methods for operators; the root runs
// Tend.
//
// It alone makes values of Agent. A holder of one may rely on it: its message came from the key that is pinned for its
// id, or from the process that agreed on a session with the holder of that key. Trust never knows backends or health.
// It starts no goroutine and may be used from any number of them. Messages of different agents are opened concurrently;
// only the pinning of an agent waits for the disk.
package trust
