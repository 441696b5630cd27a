package identity

import (
	"strconv"
	"strings"
	"time"
)

// NextEpoch returns the epoch of a starting process: the time in milliseconds, but always more than
// the one before, which the file at path stores. So an agent that restarts after its clock was set
// back is not taken for a replay.
//
// The epoch is usable even with an error: that the file could not be written matters only if the
// clock is set back.
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

// Window refuses replays: it accepts only messages newer than every accepted one. It also refuses
// an older message that was overtaken on the way, which does no harm, because its sender repeats what
// was not acknowledged, with a new number.
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

// Accept accepts the message if it is newer, and reports whether it did. Call it only for messages
// with a valid signature: otherwise anyone could move the window past the sender.
func (w *Window) Accept(epoch, seq uint64) bool {
	if !w.Newer(epoch, seq) {
		return false
	}
	w.epoch, w.seq = epoch, seq
	return true
}

// Epoch returns the epoch of the latest accepted message, 0 if there was none.
func (w *Window) Epoch() uint64 { return w.epoch }
