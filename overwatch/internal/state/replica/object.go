package replica

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"strings"
)

// Key identifies an object on all nodes. Name is the name in the API, the same on every node.
type Key struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
}

func (k Key) compare(other Key) int {
	return cmp.Or(strings.Compare(k.Kind, other.Kind), strings.Compare(k.Name, other.Name))
}

// Object is an object of an operator, or its tombstone. It is immutable.
type Object struct {
	Key
	Version Version         `json:"version"`
	Deleted bool            `json:"deleted,omitempty"` // a tombstone: no value
	Value   json.RawMessage `json:"value,omitempty"`
}

// compare orders the versions of an object. A node that was restored from a backup may assign a version twice. Then a
// tombstone is later than a value, and the greater value in byte order is later, so that all nodes select the same
// object.
func (o *Object) compare(other *Object) int {
	if c := o.Version.Compare(other.Version); c != 0 {
		return c
	}
	if o.Deleted != other.Deleted {
		if o.Deleted {
			return 1
		}
		return -1
	}
	return bytes.Compare(o.Value, other.Value)
}

// Digest is a sum over objects, which does not depend on their order. Tables with equal objects have equal digests.
type Digest [sha256.Size]byte

// toggle adds an object to the digest, or removes an object that the digest contains.
func (d *Digest) toggle(o *Object) {
	h := sha256.New()
	for _, field := range []string{o.Kind, o.Name, o.Version.Node, string(o.Value)} {
		_ = binary.Write(h, binary.BigEndian, uint32(len(field))) // a hash returns no error
		h.Write([]byte(field))
	}
	_ = binary.Write(h, binary.BigEndian, o.Version.Time)
	_ = binary.Write(h, binary.BigEndian, o.Version.Count)
	_ = binary.Write(h, binary.BigEndian, o.Deleted)
	for i, octet := range h.Sum(nil) {
		d[i] ^= octet
	}
}
