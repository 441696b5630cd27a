package store

import (
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// schema is the version of the format of the store. bucketMeta contains the version in the same form in every schema.
// Version 0.9.0 wrote schema 4. Buckets and fields that 0.9.0 ignores do not change the schema. A change that 0.9.0
// would misread requires a new schema, and a converter that first copies the store.
const schema = 4

var (
	schemaKey        = []byte("schema")  // 4 bytes, big-endian
	programKey       = []byte("program") // name and version of the program that first wrote this schema
	serialKey        = []byte("serial")  // 4 bytes, big-endian: upper bound of the assigned SOA serials
	creationTimesKey = []byte("births")  // times at which domains were added to the file, as encoded by package control
)

// confirmSchema returns an error if the open store has no schema.
func (s *Store) confirmSchema() error {
	found, err := s.number(schemaKey)
	if err != nil || found == schema {
		return err
	}
	return fmt.Errorf("%s has schema %d, which no version writes: restore a backup", s.path, found)
}

// writeSchema stores the current schema and the program that wrote it.
func (w *writer) writeSchema(program string) {
	w.putRecord(bucketMeta, schemaKey, binary.BigEndian.AppendUint32(nil, schema))
	w.putRecord(bucketMeta, programKey, []byte(program))
}

// addBuckets creates missing buckets.
func (w *writer) addBuckets(names ...string) {
	for _, name := range names {
		if w.err != nil || w.tx.Bucket([]byte(name)) != nil {
			continue
		}
		_, w.err = w.tx.CreateBucket([]byte(name))
		w.digests[name] = digest{}
	}
}

// schemaError reports a store of another schema.
type schemaError struct {
	path    string
	found   uint32
	program string // the program that first wrote the schema; empty if unknown
}

func (e *schemaError) Error() string {
	if e.found < schema {
		return fmt.Sprintf("%s has schema %d of a version before 0.9.0, and this program reads schema %d: start version "+
			"0.9.0 once, which converts the store, then install this version", e.path, e.found, schema)
	}
	install := "the version that wrote it, or a later one"
	if e.program != "" {
		install = e.program + " or later"
	}
	return fmt.Sprintf("%s has schema %d, and this program understands up to %d: install %s; or restore a backup of "+
		"schema %d", e.path, e.found, schema, install, schema)
}

// CheckSchema returns the error of Open for a store in dir with another schema. It has no side effects, and ignores
// other faults.
func CheckSchema(dir string) error {
	path := filepath.Join(dir, fileName)
	f, err := os.Open(path)
	if err != nil {
		return nil // Open reports it
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil // Open reports it
	}
	return refuseOtherSchema(path, f, info.Size())
}

// refuseOtherSchema returns a schemaError if the file has another schema, because data of another schema must not be
// treated as damage. It accepts a file without a readable schema.
func refuseOtherSchema(path string, r io.ReaderAt, size int64) error {
	m, _, err := readMetas(r, size)
	if err != nil {
		return nil //nolint:nilerr // verify reports damage
	}
	other := schemaError{path: path}
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
				other.found = binary.BigEndian.Uint32(value)
			case string(key) == string(programKey) && len(value) <= maxProgram:
				other.program = string(value)
			}
			return nil
		})
	})
	if err != nil || other.found == 0 || other.found == schema {
		return nil //nolint:nilerr // verify reports damage
	}
	return &other
}

// maxProgram is the maximum length of the name and version of a program in bytes.
const maxProgram = 128
