package frame

import (
	"encoding/hex"
	"strconv"
)

// AgentName is the name by which an agent goes in memberlist's pings: its key id and the epoch of its process. The node
// learns from it where answers for that agent go until the agent's first sealed datagram arrives. The epoch is known
// only to those who read the agent's traffic, so a holder of the gossip key elsewhere cannot draw the answers to itself.
func AgentName(keyID [32]byte, epoch uint64) string {
	return hex.EncodeToString(keyID[:16]) + "-" + strconv.FormatUint(epoch, 16)
}
