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
