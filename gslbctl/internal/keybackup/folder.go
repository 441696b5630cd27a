package keybackup

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/miekg/dns"
)

// The endings of the files of the folder that are kept: the two halves of a key, and a zone's record of its keys.
const (
	publicEnding  = ".key"
	privateEnding = ".private"
	recordEnding  = ".record"
)

// maxFile bounds a file of the folder, in octets. The largest, a record, has at most 64 KiB.
const maxFile = 64 << 10

// maxReads bounds the tries to read the folder while a node changes it.
const maxReads = 5

// File is a file of the folder of keys.
type File struct {
	Name    string
	Content []byte
}

// Key is a signing key of a zone.
type Key struct {
	Zone    string
	Tag     uint16
	Created time.Time
	name    string // of its files, without ending
	public  string // base64
}

// kept reports whether a file of the folder is part of a backup. Keys that were taken out of use are not.
func kept(name string) bool {
	if name != filepath.Base(name) || strings.HasPrefix(name, ".") {
		return false
	}
	ending := filepath.Ext(name)
	return ending == recordEnding || strings.HasPrefix(name, "K") && (ending == publicEnding || ending == privateEnding)
}

// Read returns the files of all keys in a folder, as they were together at one moment, though a node may be changing
// them. It fails if a key could not be used: half of it is missing, or the halves do not fit.
func Read(dir string) ([]File, []Key, error) {
	before, err := readOnce(dir)
	for range maxReads {
		var files []File
		if err == nil {
			files, err = readOnce(dir)
		}
		if err != nil {
			return nil, nil, err
		}
		if slices.EqualFunc(before, files, sameFile) {
			keys, err := keysOf(files)
			if err != nil {
				return nil, nil, fmt.Errorf("%s: %w", dir, err)
			}
			if len(keys) == 0 {
				return nil, nil, fmt.Errorf("%s has no signing keys: name the folder dnssec in the node's data_dir with --keys",
					dir)
			}
			return files, keys, nil
		}
		before = files
	}
	return nil, nil, fmt.Errorf("%s: the node is changing its keys just now: try again", dir)
}

func sameFile(a, b File) bool { return a.Name == b.Name && bytes.Equal(a.Content, b.Content) }

func readOnce(dir string) (files []File, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("reading the folder of keys: %w", err)
	}
	for _, e := range entries {
		if !kept(e.Name()) {
			continue
		}
		info, err := os.Stat(filepath.Join(dir, e.Name()))
		if errors.Is(err, os.ErrNotExist) {
			continue // the node took it away
		}
		if err == nil && (!info.Mode().IsRegular() || info.Size() > maxFile) {
			err = fmt.Errorf("%s is no key file: it must be a file of at most %d octets", filepath.Join(dir, e.Name()), maxFile)
		}
		content := []byte(nil)
		if err == nil {
			content, err = os.ReadFile(filepath.Join(dir, e.Name()))
		}
		if err != nil {
			return nil, fmt.Errorf("reading the folder of keys: %w", err)
		}
		files = append(files, File{e.Name(), content})
	}
	return files, nil
}

// keysOf returns the keys that files are of, by the names of their files. An error names the file.
func keysOf(files []File) (keys []Key, err error) {
	content := make(map[string][]byte, len(files))
	for _, f := range files {
		content[f.Name] = f.Content
	}
	for _, f := range files {
		base, is := strings.CutSuffix(f.Name, publicEnding)
		if !is {
			if base, is = strings.CutSuffix(f.Name, privateEnding); is && content[base+publicEnding] == nil {
				return nil, fmt.Errorf("%s is there without %s%s", f.Name, base, publicEnding)
			}
			continue
		}
		private, there := content[base+privateEnding]
		if !there {
			return nil, fmt.Errorf("%s is there without %s%s", f.Name, base, privateEnding)
		}
		k, err := parse(base, f.Content, private)
		if err != nil {
			return nil, err
		}
		keys = append(keys, k)
	}
	return keys, nil
}

// parse reads the two halves of a key in BIND's format.
func parse(base string, public, private []byte) (Key, error) {
	rr, err := dns.ReadRR(bytes.NewReader(public), base+publicEnding)
	record, is := rr.(*dns.DNSKEY)
	if err != nil || !is {
		return Key{}, fmt.Errorf("%s%s holds no DNSKEY record", base, publicEnding)
	}
	secret, err := record.NewPrivateKey(string(private))
	if err != nil || record.PublicKey != publicOf(secret) {
		return Key{}, fmt.Errorf("%s%s does not hold the private half of %s%s", base, privateEnding, base, publicEnding)
	}
	zone := dns.CanonicalName(record.Hdr.Name)
	name := fmt.Sprintf("K%s+%03d+%05d", strings.ReplaceAll(zone, "/", "%2F"), record.Algorithm, record.KeyTag())
	if name != base {
		return Key{}, fmt.Errorf("%s%s holds the key %s", base, publicEnding, name)
	}
	return Key{zone, record.KeyTag(), created(private), base, record.PublicKey}, nil
}

// publicOf returns the public half of a private key as a DNSKEY record has it (RFC 6605, RFC 8080); empty for another
// algorithm than those of a node.
func publicOf(secret crypto.PrivateKey) string {
	switch k := secret.(type) {
	case *ecdsa.PrivateKey:
		if point, err := k.PublicKey.Bytes(); err == nil {
			return base64.StdEncoding.EncodeToString(point[1:]) // without the mark of an uncompressed point
		}
	case ed25519.PrivateKey:
		if len(k) == ed25519.PrivateKeySize {
			return base64.StdEncoding.EncodeToString(k[ed25519.PrivateKeySize-ed25519.PublicKeySize:])
		}
	}
	return ""
}

// created returns when a key was made, zero if its file does not say.
func created(private []byte) time.Time {
	for line := range strings.Lines(string(private)) {
		if text, is := strings.CutPrefix(line, "Created:"); is {
			at, _ := time.Parse("20060102150405", strings.TrimSpace(text))
			return at
		}
	}
	return time.Time{}
}
