package identity

import (
	"strconv"
	"strings"
	"time"
)

// NextEpoch returns the epoch of a starting process: the time in milliseconds, but at least 1 above the previous epoch,
// which the file at path stores. A node therefore does not treat an agent that restarts with a slow clock as a replay.
//
// The epoch is usable even with an error: the failed write matters only if the clock is set back later.
func NextEpoch(path string, now time.Time) (uint64, error) {
	epoch := uint64(max(now.UnixMilli(), 1))
	if text, err := readFile(path); err == nil {
		last, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 63)
		if err == nil && last >= epoch {
			epoch = last + 1
		}
	}
	return epoch, writeFile(path, []byte(strconv.FormatUint(epoch, 10)+"\n"), 0o600)
}

// Window rejects replays: it accepts only messages that are newer than every accepted message. It also rejects an older
// message that a newer message has overtaken. This is harmless, because the sender repeats unacknowledged content with
// a new number.
//
// The zero Window accepts any epoch and sequence number but (0, 0). Its size does not grow.
type Window struct {
	epoch, seq uint64
}

// Newer reports whether Accept would accept the message. It changes nothing, so it may be called
// before the signature is checked.
func (w *Window) Newer(epoch, seq uint64) bool {
	return epoch > w.epoch || (epoch == w.epoch && seq > w.seq)
}

// Accept accepts the message if it is newer, and reports whether it did. Call it only for messages with a valid
// signature: otherwise any sender could move the window and block the real sender.
func (w *Window) Accept(epoch, seq uint64) bool {
	if !w.Newer(epoch, seq) {
		return false
	}
	w.epoch, w.seq = epoch, seq
	return true
}

// Epoch returns the epoch of the latest accepted message, or 0.
func (w *Window) Epoch() uint64 { return w.epoch }
