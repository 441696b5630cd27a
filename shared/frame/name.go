package frame

import (
	"encoding/hex"
	"strconv"
)

// AgentName returns the name of an agent in memberlist's pings: its key id and the epoch of its process. The node sends
// answers for the agent to the source of the ping until the agent's first sealed datagram arrives. Only hosts that can
// read the agent's traffic know the epoch, so another host with the gossip key cannot redirect the answers to itself.
func AgentName(keyID [32]byte, epoch uint64) string {
	return hex.EncodeToString(keyID[:16]) + "-" + strconv.FormatUint(epoch, 16)
}
