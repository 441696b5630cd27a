package journal

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"gslb.internal/shared/api"
)

// maxFile is the size, in octets, at which a new file is begun with the kept events. Kept events of the usual size take
// half of it. Where they take more, a file is begun when it has grown to twice of what it began with.
const maxFile = 8 << 20

// search returns the place of the first event behind a sequence.
func search(events []api.Event, sequence uint64) int {
	at, found := slices.BinarySearchFunc(events, sequence, func(e api.Event, s uint64) int {
		return cmp.Compare(e.Sequence, s)
	})
	if found {
		at++
	}
	return at
}

// read returns the events of a file in the order of their sequences. A last line that was not written whole is left
// out. Any other fault is an error, beside the events that can be read.
func read(path string) (events []api.Event, err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 16*maxText)
	var last uint64
	var bad, number int
	for number = 1; lines.Scan(); number++ {
		var e api.Event
		if json.Unmarshal(lines.Bytes(), &e) != nil || e.Sequence <= last || e.Sequence > 1<<53 {
			bad = number
			continue
		}
		last = e.Sequence
		events = append(events, e)
	}
	if bad > 0 && (bad < number-1 || len(events) == 0) {
		err = fmt.Errorf("line %d is no event that follows the one before", bad)
	}
	return events, errors.Join(err, lines.Err())
}

// write appends the events that the file lacks.
func (j *Journal) write() error {
	j.mu.Lock()
	count := j.unstored
	newest := slices.Clone(j.events[len(j.events)-count:])
	j.mu.Unlock()
	if count == 0 {
		return nil
	}
	if j.file == nil || j.size > max(maxFile, 2*j.begun) {
		if err := j.begin(); err != nil {
			return err
		}
	} else {
		text := lines(newest)
		if _, err := j.file.Write(text); err != nil {
			_ = j.file.Truncate(j.size) // no half line; begin makes another file anyway
			j.close()
			return err
		}
		j.size += int64(len(text))
		j.stored(newest[count-1].Sequence)
	}
	return nil
}

// begin replaces the file by a new one with the kept events and the older ones that are still standing.
func (j *Journal) begin() (err error) {
	j.close()
	j.mu.Lock()
	all := slices.Clone(j.visible())
	for _, e := range j.standing {
		if e.Sequence < all[0].Sequence {
			all = append(all, e)
		}
	}
	j.mu.Unlock()
	slices.SortFunc(all, func(a, b api.Event) int { return cmp.Compare(a.Sequence, b.Sequence) })
	temporary, err := os.OpenFile(j.o.Path+".new", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	text := lines(all)
	if _, err = temporary.Write(text); err == nil {
		err = os.Rename(temporary.Name(), j.o.Path)
	}
	if err != nil {
		return errors.Join(err, temporary.Close(), os.Remove(temporary.Name()))
	}
	j.file, j.size, j.begun = temporary, int64(len(text)), int64(len(text))
	j.stored(all[len(all)-1].Sequence)
	return nil
}

// stored notes that the events up to a sequence are in the file.
func (j *Journal) stored(upTo uint64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.unstored = len(j.events) - search(j.events, upTo)
}

func (j *Journal) close() {
	if j.file != nil {
		_ = j.file.Close() // what was written is with the kernel; the next file has it too
		j.file = nil
	}
}

// lines returns events in the form of the file.
func lines(events []api.Event) []byte {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	for i := range events {
		_ = encoder.Encode(&events[i]) // texts and numbers
	}
	return b.Bytes()
}
