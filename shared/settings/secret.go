package settings

import (
	"encoding/base64"
	"fmt"
	"strconv"
)

// redacted is printed instead of a secret.
const redacted = "[redacted]"

// Secret is a configuration value that logs and the API must not show: it prints, formats and encodes as "[redacted]",
// or as "" if it is empty. So a Config can be logged or sent over the API. A struct field of this type, or a map with
// values of this type, makes its key a secret key: an environment variable or the file named by <key>_file can also
// contain the value, and a file that sets it must not be open to group or others.
type Secret string

// Reveal returns the secret itself. Callers pass it on and store no copy.
func (s Secret) Reveal() string { return string(s) }

// String returns "[redacted]", or "" for an empty secret.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return redacted
}

// GoString returns String in quotes, for %#v.
func (s Secret) GoString() string { return strconv.Quote(s.String()) }

// MarshalText returns String, for encoders of text and JSON, even for a secret that is the value of a map.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// KeySize is the size of an AES-256 key, in octets.
const KeySize = 32

// ParseKey parses a key in base64. For an invalid text, remedy states how to correct it, without the text itself.
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

// CheckKeys adds problems for the gossip keys in the block at key: its encryption_key and previous_encryption_keys.
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

// Keys returns the gossip keys, which Load has validated: first the key that encrypts, then the keys that only decrypt.
func Keys(current Secret, previous []Secret) [][]byte {
	keys := make([][]byte, 0, 1+len(previous))
	for _, text := range append([]Secret{current}, previous...) {
		key, _ := ParseKey(text)
		keys = append(keys, key)
	}
	return keys
}
