// Package trust decides who is believed: which certificate is which agent, and which services it may speak for.
//
// It is the only maker of an Agent, and whoever holds one may rely on it: its message came from the key that is pinned
// for its id, or from the process that the holder of that key agreed on a session with. Trust knows nothing of backends
// or health. It starts no goroutine and may be used from any number of them; messages of different agents are opened
// side by side, only the pinning of an agent waits for the disk.
package trust
