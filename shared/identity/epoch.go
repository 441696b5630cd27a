package identity

import (
	"strconv"
	"strings"
	"time"
)

// NextEpoch returns the epoch of a process that starts now: the time in milliseconds, but always more than the one before, which
// is remembered in the file at path. So an agent whose clock was set back, and was then restarted, is not taken for a
// recording of itself.
//
// The epoch is good for use even when there is an error: that it could not be remembered matters only if the clock goes back.
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
