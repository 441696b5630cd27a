package model

import (
	"crypto/sha256"
	"encoding/hex"
	"time"
)

// KindRecord is the name of the kind of DNS records.
const KindRecord = "record"

// Bounds of the records of the API.
const (
	MaxRecordName = 253      // maximum length of an owner name in characters, without the final dot
	MaxRecordData = 64 << 10 // maximum length of the data of a record in characters
	// maxRecordKey is the maximum length of a key with the complete data. A longer key has the hash of the data.
	maxRecordKey = 600
)

// Record is a DNS record of the API. Nodes replicate each record separately, so that two nodes can add data to a name
// and type at the same time.
type Record struct {
	// The owner name in lower case, without the final dot.
	Name string `json:"name"`
	// The type, such as TXT.
	Type string `json:"type"`
	// The data in canonical zone-file form, with absolute names.
	Data string `json:"data"`
	// The TTL in seconds.
	TTL int `json:"ttl" min:"0" max:"2147483647"`
	// The time at which each node removes the record; zero: never.
	ExpiresAt time.Time `json:"expires_at,omitzero"`
	Meta
}

// Key returns the name, the type, and the data or its hash; "" for an incomplete record.
func (r *Record) Key() string { return RecordKey(r.Name, r.Type, r.Data) }

// RecordKey returns the key of a record with these values in canonical form.
func RecordKey(name, rtype, data string) string {
	if name == "" || rtype == "" {
		return ""
	}
	set := name + " " + rtype + " "
	if len(set)+len(data) <= maxRecordKey {
		return set + data
	}
	sum := sha256.Sum256([]byte(data))
	return set + "sha256:" + hex.EncodeToString(sum[:])
}

// RecordSet contains the records of the API with the same name and type.
type RecordSet struct {
	// The owner name in full; the final dot is optional. Required.
	Name string `key:"name" json:"name" write:"always"`
	// The type, such as TXT. Required.
	Type string `key:"type" json:"type" write:"always"`
	// The TTL in seconds.
	TTL int `key:"ttl" json:"ttl" usage:"TTL in seconds" default:"300" min:"0" max:"2147483647"`
	// The data of each record in zone-file form, such as `10 mail.example.com` for MX. Names are absolute; the final dot
	// is optional. Required.
	Data []string `key:"data" json:"data" usage:"data of each record, in zone-file form" write:"always"`
	// The time at which each node removes the records; zero: never. Documents have only records without it.
	ExpiresAt time.Time `json:"expires_at,omitzero" usage:"time at which the records disappear"`
	Meta
}

// Key returns the name and the type, "" for an incomplete set.
func (s *RecordSet) Key() string { return RecordSetKey(s.Name, s.Type) }

// RecordSetKey returns the key of the set of records with a name and type in canonical form.
func RecordSetKey(name, rtype string) string {
	if name == "" || rtype == "" {
		return ""
	}
	return name + " " + rtype
}

// Set returns the key of the set with the record.
func (r *Record) Set() string { return RecordSetKey(r.Name, r.Type) }
