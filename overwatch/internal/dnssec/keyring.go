package dnssec

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/miekg/dns"
)

// MaxKeys bounds the keys of one zone, so that neither files nor peers can make its DNSKEY RRset large.
const MaxKeys = 3

// Keyring is the keys of the zones of this node, and the directory they are kept in. It is not safe for concurrent use;
// the key sets that it hands out are.
type Keyring struct {
	dir  string
	keys map[string][]*Key // by zone; oldest first
}

// OpenKeyring reads all keys in dir, which is made if it does not exist. A file that cannot be used is an error that names
// it: a zone must not silently get a new key. Keys of zones that are not configured now are read and kept.
func OpenKeyring(dir string) (*Keyring, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the DNSSEC key directory: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("reading the DNSSEC key directory: %w", err)
	}
	r := &Keyring{dir: dir, keys: make(map[string][]*Key)}
	for _, base := range keyNames(entries) {
		k, err := readKey(filepath.Join(dir, base))
		if err != nil {
			return nil, err
		}
		r.insert(k)
	}
	for zone, keys := range r.keys {
		if len(keys) > MaxKeys {
			return nil, fmt.Errorf("DNSSEC key directory %s: %d keys for %s, at most %d can be published; move the files of those that are not needed away", dir, len(keys), zone, MaxKeys)
		}
	}
	return r, nil
}

// keyNames returns the names, without ending, of which at least one file is there.
func keyNames(entries []fs.DirEntry) []string {
	var names []string
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), publicEnding)
		if !ok {
			name, ok = strings.CutSuffix(e.Name(), privateEnding)
		}
		if ok && strings.HasPrefix(name, "K") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Keys returns the keys of a zone, the oldest first. The slice is never changed.
func (r *Keyring) Keys(zone string) []*Key { return r.keys[dns.CanonicalName(zone)] }

// ErrTooManyKeys is what Add returns for a zone that has MaxKeys already.
var ErrTooManyKeys = errors.New("the zone has as many keys as may be published")

// Add keeps a key, on disk before it returns. A key that is there already is no error.
func (r *Keyring) Add(k *Key) error {
	for _, other := range r.keys[k.zone] {
		if slices.Equal(other.public, k.public) {
			return nil
		}
	}
	if len(r.keys[k.zone]) >= MaxKeys {
		return fmt.Errorf("key %d of %s: %w (%d)", k.tag, k.zone, ErrTooManyKeys, MaxKeys)
	}
	private, err := k.privateText()
	if err != nil {
		return err
	}
	base := filepath.Join(r.dir, k.FileName())
	// The private half first: without a public one it is found and named, never lost.
	if err := writeFile(base+privateEnding, private, 0o600); err != nil {
		return fmt.Errorf("keeping key %d of %s: %w", k.tag, k.zone, err)
	}
	if err := writeFile(base+publicEnding, k.publicText(), 0o644); err != nil {
		return fmt.Errorf("keeping key %d of %s: %w", k.tag, k.zone, err)
	}
	r.insert(k)
	return nil
}

func (r *Keyring) insert(k *Key) {
	keys := append(slices.Clone(r.keys[k.zone]), k)
	slices.SortFunc(keys, older)
	r.keys[k.zone] = keys
}

// active returns the keys that sign at the time now. If none is active, the oldest signs, since an unsigned zone is worse
// than one signed by a key that should have gone.
func active(keys []*Key, now time.Time) []*Key {
	var found []*Key
	for _, k := range keys {
		if k.State(now) == Active {
			found = append(found, k)
		}
	}
	if len(found) == 0 {
		return keys[:min(len(keys), 1)]
	}
	return found
}

// writeFile puts content at path so that a crash leaves the old file or the new one, never half of it.
func writeFile(path string, content []byte, mode fs.FileMode) (err error) {
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, ".key-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if _, err = f.Write(content); err != nil {
		return err
	}
	if err = f.Chmod(mode); err != nil {
		return err
	}
	if err = f.Sync(); err != nil {
		return err
	}
	if err = f.Close(); err != nil {
		return err
	}
	if err = os.Rename(f.Name(), path); err != nil {
		return err
	}
	return syncDir(dir)
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
