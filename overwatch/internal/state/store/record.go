package store

import (
	"crypto/sha256"
	"encoding/binary"
)

// A record is a checksum followed by a value. The bucket of digests contains a digest of each other bucket, which
// changes in the same transaction. The digest detects missing and outdated records. The checksum detects changed
// records.
const sumSize = 8

// sum returns the checksum over a record's bucket, key and value: the first octets of a SHA-256.
func sum(bucket string, key, value []byte) uint64 {
	h := sha256.New()
	var n [8]byte
	binary.BigEndian.PutUint32(n[:4], uint32(len(bucket)))
	binary.BigEndian.PutUint32(n[4:], uint32(len(key)))
	h.Write(n[:])
	h.Write([]byte(bucket))
	h.Write(key)
	h.Write(value)
	var out [sha256.Size]byte
	return binary.BigEndian.Uint64(h.Sum(out[:0]))
}

// seal returns a value preceded by its checksum, which covers the bucket and the key.
func seal(bucket string, key, value []byte) []byte {
	record := make([]byte, 0, sumSize+len(value))
	record = binary.BigEndian.AppendUint64(record, sum(bucket, key, value))
	return append(record, value...)
}

// unseal returns the value of a record, and its checksum. It returns an error if the checksum does not match.
func unseal(bucket string, key, record []byte) (value []byte, checksum uint64, err error) {
	if len(record) < sumSize {
		return nil, 0, damaged("record %q of bucket %s is too short", key, bucket)
	}
	value, checksum = record[sumSize:], binary.BigEndian.Uint64(record)
	if checksum != sum(bucket, key, value) {
		return nil, 0, damaged("record %q of bucket %s does not have its checksum", key, bucket)
	}
	return value, checksum, nil
}

// digest is a checksum over the records of a bucket in any order.
type digest struct {
	records, total uint64 // number of records, and sum of their checksums
}

func (d digest) encode() []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, d.records), d.total)
}

func decodeDigest(b []byte) (digest, bool) {
	if len(b) != 16 {
		return digest{}, false
	}
	return digest{records: binary.BigEndian.Uint64(b), total: binary.BigEndian.Uint64(b[8:])}, true
}

// census counts the records of a file, to compare them with the stored digests.
type census struct {
	found, stored map[string]digest
}

func newCensus() *census {
	return &census{found: make(map[string]digest), stored: make(map[string]digest)}
}

// bucket adds a bucket, which may be empty.
func (c *census) bucket(name string) { c.found[name] = digest{} }

// count adds a record.
func (c *census) count(bucket string, key, record []byte) error {
	value, checksum, err := unseal(bucket, key, record)
	if err != nil {
		return err
	}
	if bucket == bucketDigests {
		d, ok := decodeDigest(value)
		if !ok {
			return damaged("digest of bucket %q", key)
		}
		c.stored[string(key)] = d
		return nil
	}
	d := c.found[bucket]
	d.records++
	d.total += checksum
	c.found[bucket] = d
	return nil
}

// check returns an error unless the counted records match all digests.
func (c *census) check() error {
	delete(c.found, bucketDigests)
	for bucket, want := range c.stored {
		if got, there := c.found[bucket]; !there || got != want {
			return damaged("bucket %s has %d records, not the %d that were stored", bucket, got.records, want.records)
		}
	}
	for bucket := range c.found {
		if _, there := c.stored[bucket]; !there {
			return damaged("bucket %s has no digest", bucket)
		}
	}
	if len(c.found) == 0 {
		return damaged("no buckets")
	}
	return nil
}
