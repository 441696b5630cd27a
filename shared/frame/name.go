package frame

import (
	"encoding/hex"
	"strconv"
)

// AgentName returns an agent's name in memberlist's pings: its key id and the epoch of its process.
// The node sends answers for that agent to the ping's source until the agent's first sealed
// datagram arrives. Only readers of the agent's traffic know the epoch, so another holder of the
// gossip key cannot draw the answers to itself.
func AgentName(keyID [32]byte, epoch uint64) string {
	return hex.EncodeToString(keyID[:16]) + "-" + strconv.FormatUint(epoch, 16)
}
