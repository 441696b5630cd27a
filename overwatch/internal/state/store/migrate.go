package store

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"time"

	bolt "go.etcd.io/bbolt"
)

// steps convert the schemas of earlier programs: steps[0] makes schema 2 of schema 1, and so on. A step changes the
// contents of its transaction and nothing else. It may find part of its work done, because development versions wrote
// that. A change that an earlier program would misread takes a step as well, so that the earlier program refuses the
// file.
var steps = []func(*writer){addDefinitions, addOrders, addVersions}

// schema is the version of the contents of the buckets. It is stored in bucketMeta, whose records have the same form
// in every schema.
const schema = 4

var (
	schemaKey        = []byte("schema")  // 4 octets, big-endian
	programKey       = []byte("program") // the program that first wrote this schema: its name and version
	serialKey        = []byte("serial")  // 4 octets, big-endian: no SOA serial later than this one has been given
	creationTimesKey = []byte("births")  // when the domains of the file came into it, as package control encodes it
)

// addDefinitions makes schema 2: definitions of the API beside servers, latencies, and superseded pins. A program of
// schema 1 would not serve the definitions, and would take a superseded pin for a valid one.
func addDefinitions(w *writer) {
	w.addBuckets(bucketServers, bucketDomains, bucketAudit, bucketRegions, bucketMappings, bucketSettings, bucketNodes,
		bucketLatencies)
}

// addOrders makes schema 3: weights and drains are records of their own, beside overrides, and may wait for their
// beginning. A program of schema 2 would put an override in force before it begins, and would not see drains.
func addOrders(w *writer) {
	w.addBuckets(bucketWeights, bucketDrains, bucketBegun)
	statuses := w.open(bucketStatuses)
	if w.err != nil {
		return
	}
	var drains []Order
	w.err = statuses.ForEach(func(key, record []byte) error {
		value, _, err := unseal(bucketStatuses, key, record)
		if err != nil {
			return err
		}
		var status struct {
			Since time.Time     `json:"drain_since"`
			Over  time.Duration `json:"drain_over"`
		}
		service, address, port, err := decodeEndpoint(key)
		if err != nil || json.Unmarshal(value, &status) != nil || status.Since.IsZero() {
			return nil //nolint:nilerr // LoadStatuses tells of a record that cannot be read, and leaves it out
		}
		drains = append(drains, Order{Service: service, Address: netip.AddrPortFrom(address, port).String(),
			Over: status.Over, Source: "api", CreatedAt: status.Since})
		return nil
	})
	for _, o := range drains {
		value, err := json.Marshal(o)
		if w.err == nil {
			w.err = err
		}
		w.put(bucketDrains, orderKey(o.Service, o.Address), value)
	}
}

// addVersions makes schema 4: versions of operators' decisions, which openTable then gives to those that have none. A
// program of schema 3 would change records and not their versions.
func addVersions(w *writer) { w.addBuckets(bucketVersions) }

// keptName returns the path of the copy that is kept of a store when it is converted from an earlier schema.
func keptName(dir string, number uint32) string {
	return filepath.Join(dir, fileName+".schema-"+strconv.FormatUint(uint64(number), 10))
}

// migrate converts a store of an earlier schema in one transaction, after copying it to keptName. However it ends,
// the next Open finds the store unchanged or wholly converted.
func (s *Store) migrate() error {
	found, err := s.number(schemaKey)
	if err != nil || found == schema {
		return err
	}
	if found == 0 || found > schema {
		return fmt.Errorf("%s has schema %d, which no version writes: restore a backup", s.path, found)
	}
	kept := keptName(s.dir, found)
	if err := duplicate(s.path, kept); err != nil {
		return fmt.Errorf("keeping a copy of %s before it is converted from schema %d to %d: %w: the store is as it was",
			s.path, found, schema, err)
	}
	err = guarded(func() error {
		return s.db.Update(func(tx *bolt.Tx) error {
			w := &writer{tx: tx, digests: make(map[string]digest)}
			for _, step := range steps[found-1:] {
				step(w)
			}
			w.writeSchema(s.program)
			return w.finish()
		})
	})
	if err != nil {
		return fmt.Errorf("converting %s from schema %d to %d: %w: %w: the store is as it was", s.path, found, schema,
			ErrNotDurable, err)
	}
	s.log.Info().Uint32("from", found).Uint32("to", schema).Str("copy",
		kept).Msg("the store was converted; delete the copy when you will not go back to the version before")
	mark(s.changed)
	return nil
}

// writeSchema stores the present schema and the program that wrote it.
func (w *writer) writeSchema(program string) {
	w.put(bucketMeta, schemaKey, binary.BigEndian.AppendUint32(nil, schema))
	w.put(bucketMeta, programKey, []byte(program))
}

// addBuckets makes the buckets that are missing.
func (w *writer) addBuckets(names ...string) {
	for _, name := range names {
		if w.err != nil || w.tx.Bucket([]byte(name)) != nil {
			continue
		}
		_, w.err = w.tx.CreateBucket([]byte(name))
		w.digests[name] = digest{}
	}
}

// newerError reports a file of a schema that this program does not know.
type newerError struct {
	path    string
	found   uint32
	program string // that first wrote the schema; "" if it did not say
}

func (e *newerError) Error() string {
	text := fmt.Sprintf("%s has schema %d, and this program understands up to %d: ", e.path, e.found, schema)
	if e.program == "" {
		text += "install the version that wrote it, or a later one"
	} else {
		text += "install " + e.program + " or later"
	}
	dir := filepath.Dir(e.path)
	if kept := keptName(dir, schema); exists(kept) {
		path := filepath.Join(dir, fileName)
		return text +
			fmt.Sprintf(
				"; or go back to the copy that was kept when it was converted, without what changed since: mv %s %s && rm -f %s",
				kept, path, filepath.Join(dir, copyName))
	}
	return text + fmt.Sprintf("; or restore a backup of schema %d", schema)
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// CheckSchema returns the error that Open would return because a newer program wrote the store in dir. It changes
// nothing, and leaves other faults to Open.
func CheckSchema(dir string) error {
	path := filepath.Join(dir, fileName)
	f, err := os.Open(path)
	if err != nil {
		return nil // left to Open
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil // left to Open
	}
	return refuseNewer(path, f, info.Size())
}

// refuseNewer returns a newerError if a newer program wrote the file: its contents may have any form, and must not be
// taken for damage. A file without a readable schema passes.
func refuseNewer(path string, r io.ReaderAt, size int64) error {
	m, _, err := readMetas(r, size)
	if err != nil {
		return nil //nolint:nilerr // what is damaged, verify says
	}
	newer := newerError{path: path}
	w := walk{r: r, meta: m, seen: make(map[uint64]struct{})}
	err = w.tree(m.root, func(name []byte, flags uint32, value []byte) error {
		if string(name) != bucketMeta || flags&leafIsBucket == 0 {
			return nil
		}
		return w.bucket(value, func(key []byte, _ uint32, record []byte) error {
			switch value, _, err := unseal(bucketMeta, key, record); {
			case err != nil:
				return err
			case string(key) == string(schemaKey) && len(value) == 4:
				newer.found = binary.BigEndian.Uint32(value)
			case string(key) == string(programKey) && len(value) <= maxProgram:
				newer.program = string(value)
			}
			return nil
		})
	})
	if err != nil || newer.found <= schema {
		return nil //nolint:nilerr // what is damaged, verify says
	}
	return &newer
}

// maxProgram bounds the name and version of a program, in octets.
const maxProgram = 128
