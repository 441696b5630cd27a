package settings

import (
	"encoding/base64"
	"fmt"
	"strconv"
)

// redacted is printed instead of a secret.
const redacted = "[redacted]"

// Secret is a configuration value that must not be shown: it prints, formats and encodes as "[redacted]"
// (as nothing when empty), so a Config can be logged or sent over the API without thinking about it.
// A struct field of this type, or a map whose values are of this type, makes its key a secret key: it may
// also come from an environment variable or from the file named by <key>_file, and a file that sets it
// must not be open to group or others.
type Secret string

// Reveal returns the secret itself. Callers pass it on and keep no copy.
func (s Secret) Reveal() string { return string(s) }

// String returns "[redacted]", or "" for an empty secret.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return redacted
}

// GoString returns what String does, quoted, for %#v.
func (s Secret) GoString() string { return strconv.Quote(s.String()) }

// MarshalText returns what String does, for encoders of text and JSON, also where the secret is a map's value.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// KeySize is the size of a key in octets, as AES-256 wants it.
const KeySize = 32

// ParseKey reads a key in base64. For an invalid text, remedy states how to correct it, without repeating the text.
func ParseKey(s Secret) (key []byte, remedy string) {
	const make32 = "; make one with: head -c 32 /dev/urandom | base64"
	if s == "" {
		return nil, fmt.Sprintf("is missing: give %d octets in base64%s", KeySize, make32)
	}
	key, err := base64.StdEncoding.Strict().DecodeString(s.Reveal())
	if err != nil {
		return nil, fmt.Sprintf("its %d characters are not base64: give %d octets in base64%s", len(s), KeySize, make32)
	}
	if len(key) != KeySize {
		return nil, fmt.Sprintf("has %d octets: give %d octets in base64%s", len(key), KeySize, make32)
	}
	return key, ""
}

// CheckKeys notes faults of the gossip keys in the block at key: its encryption_key and its previous_encryption_keys.
func (r *Report) CheckKeys(key string, current Secret, previous []Secret) {
	if _, remedy := ParseKey(current); remedy != "" {
		r.Add(key+".encryption_key", "", remedy)
	}
	for i, before := range previous {
		at := fmt.Sprintf("%s.previous_encryption_keys[%d]", key, i)
		if _, remedy := ParseKey(before); remedy != "" {
			r.Add(at, "", remedy)
		} else if before == current {
			r.Add(at, "", "is the same as encryption_key: remove it")
		}
	}
}

// Keys returns the keys of gossip, whose texts Load has checked: first the one that encrypts, then those that only
// decrypt.
func Keys(current Secret, previous []Secret) [][]byte {
	keys := make([][]byte, 0, 1+len(previous))
	for _, text := range append([]Secret{current}, previous...) {
		key, _ := ParseKey(text)
		keys = append(keys, key)
	}
	return keys
}
