package keybackup

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
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

// Suffixes of the files in a backup: the public and the private half of a key, and the key record of a zone.
const (
	publicEnding  = ".key"
	privateEnding = ".private"
	recordEnding  = ".record"
)

// maxFile is the maximum size of a file in the directory, in octets. The largest file, a key record, has at most 64
// KiB.
const maxFile = 64 << 10

// maxReads is the maximum number of attempts to read the directory while a node changes it.
const maxReads = 5

// File is a file of a key directory. Name has no directory.
type File struct {
	Name    string
	Content []byte
}

// Key is a signing key of a zone.
type Key struct {
	Zone    string
	Tag     uint16
	Created time.Time
	name    string // file name without suffix
	public  string // base64
}

// kept reports whether a backup contains a file of this name. It omits the files of unused keys.
func kept(name string) bool {
	if name != filepath.Base(name) || strings.HasPrefix(name, ".") {
		return false
	}
	ending := filepath.Ext(name)
	return ending == recordEnding || strings.HasPrefix(name, "K") && (ending == publicEnding || ending == privateEnding)
}

// Read returns the files of all keys in a directory, and the keys, as a consistent snapshot: it retries while a node
// changes the directory. A key with a missing half, or with halves that do not match, is an error. A directory without
// keys is an error.
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
				return nil, nil, fmt.Errorf("%s has no signing keys: name the folder dnssec in the node's data_dir "+
					"with --keys",
					dir)
			}
			return files, keys, nil
		}
		before = files
	}
	return nil, nil, fmt.Errorf("%s: the node is changing its keys: retry", dir)
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
			continue // the node has just removed the file
		}
		if err == nil && (!info.Mode().IsRegular() || info.Size() > maxFile) {
			err = fmt.Errorf("%s is no key file: it must be a file of at most %d octets", filepath.Join(dir, e.Name()),
				maxFile)
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

// keysOf returns the keys in files, sorted by their public halves. An error names the file.
func keysOf(files []File) (keys []Key, err error) {
	content := contents(files)
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

// parse parses the two halves of a key in the format of BIND.
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

// publicOf returns the public half of a private key as in a DNSKEY record (RFC 6605, RFC 8080). It returns "" for an
// invalid key or an algorithm that nodes do not use. It derives the public half, because package dns copies the public
// half of an ECDSA key from the DNSKEY record.
func publicOf(secret crypto.PrivateKey) string {
	switch k := secret.(type) {
	case *ecdsa.PrivateKey:
		scalar, err := k.Bytes()
		if err != nil {
			return ""
		}
		own, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), scalar)
		if err != nil {
			return ""
		}
		if point, err := own.PublicKey.Bytes(); err == nil {
			return base64.StdEncoding.EncodeToString(point[1:]) // without the prefix of an uncompressed point
		}
	case ed25519.PrivateKey:
		if len(k) == ed25519.PrivateKeySize {
			return base64.StdEncoding.EncodeToString(k[ed25519.PrivateKeySize-ed25519.PublicKeySize:])
		}
	}
	return ""
}

// created returns the creation time in a private key file, or zero.
func created(private []byte) time.Time {
	for line := range strings.Lines(string(private)) {
		if text, is := strings.CutPrefix(line, "Created:"); is {
			at, _ := time.Parse("20060102150405", strings.TrimSpace(text))
			return at
		}
	}
	return time.Time{}
}
