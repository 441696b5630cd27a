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

// maxFile is the size in octets at which a new file with the visible events replaces the file. Usual events need half
// of this size. For larger events, a new file replaces the file at twice its initial size.
const maxFile = 8 << 20

// search returns the index of the first event after a sequence.
func search(events []api.Event, sequence uint64) int {
	at, found := slices.BinarySearchFunc(events, sequence, func(e api.Event, s uint64) int {
		return cmp.Compare(e.Sequence, s)
	})
	if found {
		at++
	}
	return at
}

// read returns the events of a file, sorted by sequence. It ignores an incomplete last line. For any other fault, it
// returns an error and the readable events.
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
		err = fmt.Errorf("line %d is not a later event than the previous line", bad)
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
		if err := j.replaceFile(); err != nil {
			return err
		}
	} else {
		text := lines(newest)
		if _, err := j.file.Write(text); err != nil {
			_ = j.file.Truncate(j.size) // removes an incomplete line; the next write replaces the file
			j.close()
			return err
		}
		j.size += int64(len(text))
		j.markStored(newest[count-1].Sequence)
	}
	return nil
}

// replaceFile replaces the file by a new file with the visible events and the older events of active states.
func (j *Journal) replaceFile() (err error) {
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
	j.markStored(all[len(all)-1].Sequence)
	return nil
}

// markStored records that the events up to a sequence are in the file.
func (j *Journal) markStored(upTo uint64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.unstored = len(j.events) - search(j.events, upTo)
}

func (j *Journal) close() {
	if j.file != nil {
		_ = j.file.Close() // the kernel has the written events, and the next file contains them
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
