package keybackup

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gslb.internal/shared/durable"
)

// maxKeys is the maximum number of keys of a zone on a node.
const maxKeys = 3

// Action is the action of a restore for one key.
type Action string

// The actions.
const (
	Add    Action = "add"    // its files, or the half that is missing, are put into the folder
	Keep   Action = "keep"   // it is there already
	Refuse Action = "refuse" // the folder has something newer
)

// Step is the part of a restore that concerns one key.
type Step struct {
	Key
	Action Action
	Reason string // reason of a rejection
	files  []File // files to add, in this order
}

// Plan returns the steps that restore the keys of some zones into a directory, or of all zones if zones is empty. The
// directory may be missing. Plan changes no file, and no step overwrites a file.
func Plan(dir string, b *Backup, zones []string) ([]Step, error) {
	there, err := readOnce(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	p := plan{backup: contents(b.Files), there: contents(there)}
	for _, zone := range zones {
		if !slices.ContainsFunc(b.Keys, func(k Key) bool { return k.Zone == zone }) {
			return nil, fmt.Errorf("it has no key of %s", zone)
		}
	}
	for _, k := range b.Keys {
		if len(zones) > 0 && !slices.Contains(zones, k.Zone) {
			continue
		}
		step, err := p.step(k)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", dir, err)
		}
		p.steps = append(p.steps, step)
	}
	return p.steps, nil
}

func contents(files []File) map[string][]byte {
	all := make(map[string][]byte, len(files))
	for _, f := range files {
		all[f.Name] = f.Content
	}
	return all
}

// plan is the state of Plan: files by name, and the previous steps.
type plan struct {
	backup, there map[string][]byte
	steps         []Step
}

func (p *plan) step(k Key) (Step, error) {
	s := Step{Key: k, Action: Keep}
	record := recordName(k.Zone)
	for _, ending := range []string{privateEnding, publicEnding} {
		name := k.name + ending
		switch has, found := p.there[name]; {
		case !found:
			s.Action = Add
			s.files = append(s.files, File{name, p.backup[name]})
		case !bytes.Equal(has, p.backup[name]):
			return k.refused(name + " is there and differs, in its times or as a whole: move it away, if the one of " +
				"the " +
				"backup is the right one"), nil
		}
	}
	if s.Action == Keep {
		return s, nil
	}
	gone, err := withdrawn(p.there[record], k.public)
	if err != nil {
		return s, fmt.Errorf("%s cannot be read: %w", record, err)
	}
	others := p.others(k)
	switch {
	case !gone.IsZero():
		return k.refused("the zone has had newer keys since: this one was taken out of it " +
			gone.UTC().Format(time.RFC3339)), nil
	case others >= maxKeys:
		return k.refused(fmt.Sprintf("the zone has %d keys, and no more can be published: move one away first",
			others)), nil
	case p.there[record] == nil && p.backup[record] != nil && others == 0:
		s.files = append([]File{{record, p.backup[record]}}, s.files...)
	}
	return s, nil
}

func (k Key) refused(reason string) Step { return Step{Key: k, Action: Refuse, Reason: reason} }

// others returns the number of other keys of the zone, in the directory and in the previous steps.
func (p *plan) others(k Key) (count int) {
	zone, _, _ := strings.Cut(k.name, "+")
	for name := range p.there {
		base, is := strings.CutSuffix(name, publicEnding)
		if of, _, _ := strings.Cut(base, "+"); is && of == zone && base != k.name {
			count++
		}
	}
	for _, s := range p.steps {
		if s.Zone == k.Zone && s.Action == Add && p.there[s.name+publicEnding] == nil {
			count++
		}
	}
	return count
}

func recordName(zone string) string {
	return strings.ReplaceAll(strings.TrimSuffix(zone, "."), "/", "%2F") + recordEnding
}

// withdrawn returns the time at which a key was removed from its zone, according to the node's key record of the zone.
// It returns zero if the key is in use or missing in the record. public is the public half in base64.
func withdrawn(record []byte, public string) (time.Time, error) {
	var known struct {
		Keys []struct {
			Public    string    `json:"public_key"`
			Withdrawn time.Time `json:"withdrawn"`
		} `json:"keys"`
	}
	if record == nil {
		return time.Time{}, nil
	}
	if err := json.Unmarshal(record, &known); err != nil {
		return time.Time{}, err
	}
	for _, k := range known.Keys {
		if k.Public == public {
			return k.Withdrawn, nil
		}
	}
	return time.Time{}, nil
}

// Apply writes the files of steps into a directory: all of them or none. It creates a missing directory. Files and
// directory get the owner of the directory, or of its parent directory.
func Apply(dir string, steps []Step) (err error) {
	made := false
	owner, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		if owner, err = os.Stat(filepath.Dir(filepath.Clean(dir))); err == nil {
			made, err = true, os.Mkdir(dir, 0o700)
		}
		if err == nil {
			err = giveTo(dir, owner)
		}
	}
	if err != nil {
		return fmt.Errorf("the folder of keys: %w", err)
	}
	staged, err := os.MkdirTemp(dir, ".restore-")
	if err != nil {
		return fmt.Errorf("the folder of keys: %w; run this as the node's user or as root", err)
	}
	var placed []string
	defer func() {
		if err != nil {
			for _, path := range placed {
				err = errors.Join(err, os.Remove(path))
			}
		}
		err = errors.Join(err, os.RemoveAll(staged), durable.SyncDir(dir))
		if err != nil && made {
			_ = os.Remove(dir) // fails if the directory is not empty
		}
	}()
	var names []string
	for _, s := range steps {
		for _, f := range s.files {
			if err := stage(filepath.Join(staged, f.Name), f, owner); err != nil {
				return err
			}
			names = append(names, f.Name)
		}
	}
	for _, name := range names {
		// Unlike a rename, a link never replaces a file that a node has created in the meantime.
		if err := os.Link(filepath.Join(staged, name), filepath.Join(dir, name)); err != nil {
			return fmt.Errorf("putting a key into its folder: %w", err)
		}
		placed = append(placed, filepath.Join(dir, name))
	}
	return nil
}

// stage writes a file to disk with the file mode that a node uses.
func stage(path string, file File, owner fs.FileInfo) error {
	mode := fs.FileMode(0o600)
	if strings.HasSuffix(path, publicEnding) {
		mode = 0o644
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(file.Content)
	return errors.Join(err, f.Chmod(mode), giveTo(path, owner), f.Sync(), f.Close())
}
