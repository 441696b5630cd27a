package dnssec

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/miekg/dns"
)

// Suffixes of the two files of a key. BIND names the files K<zone>+013+<tag>.
const (
	publicEnding  = ".key"
	privateEnding = ".private"
)

// maxKeyFile is the maximum size of a key file in octets; typical files have fewer than 500.
const maxKeyFile = 16 << 10

// timeLayout is the time format of BIND, in UTC.
const timeLayout = "20060102150405"

// originMark is the prefix of the comment in a .key file with the id of the node that created the key. BIND rejects
// unknown fields in the .private file.
const originMark = "; Origin: "

// errOpenToOthers means that group or others can read a private key.
var errOpenToOthers = errors.New("others can read the private key")

// FileName returns the name of the key's files without suffix.
func (k *Key) FileName() string {
	return fileName(k.zone, k.Algorithm(), k.tag)
}

func fileName(zone string, a Algorithm, tag uint16) string {
	return fmt.Sprintf("K%s+%03d+%05d", strings.ReplaceAll(zone, "/", "%2F"), uint8(a), tag)
}

// privateText returns the content of the .private file.
func (k *Key) privateText() ([]byte, error) {
	private, err := k.private.bytes()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "Private-key-format: v1.3\nAlgorithm: %d (%s)\nPrivateKey: %s\n",
		uint8(k.Algorithm()), k.Algorithm(), base64.StdEncoding.EncodeToString(private))
	for _, t := range k.times() {
		fmt.Fprintf(&b, "%s: %s\n", t.name, t.at.UTC().Format(timeLayout))
	}
	return b.Bytes(), nil
}

// publicText returns the content of the .key file.
func (k *Key) publicText() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "; This is a combined signing key, keyid %d, for %s\n", k.tag, k.zone)
	for _, t := range k.times() {
		fmt.Fprintf(&b, "; %s: %s (%s)\n", t.name, t.at.UTC().Format(timeLayout), t.at.UTC().Format(time.ANSIC))
	}
	if k.origin != "" {
		fmt.Fprintf(&b, "%s%s\n", originMark, k.origin)
	}
	fmt.Fprintf(&b, "%s IN DNSKEY %d %d %d %s\n", k.zone, Flags, protocol, uint8(k.Algorithm()),
		k.PublicKey())
	return b.Bytes()
}

type keyTime struct {
	name string
	at   time.Time
}

func (k *Key) times() []keyTime {
	all := []keyTime{{"Created", k.created}, {"Publish", k.created}, {"Activate", k.activate}, {"Inactive", k.inactive}}
	if k.activate.IsZero() {
		all[2].at = k.created
	}
	if k.inactive.IsZero() {
		all = all[:3]
	}
	return all
}

// readKey reads the files base.key and base.private. Errors contain the file name.
func readKey(base string) (*Key, error) {
	public, err := readKeyFile(base + publicEnding)
	if err != nil {
		return nil, err
	}
	private, err := readKeyFile(base + privateEnding)
	if err != nil {
		return nil, err
	}
	record, err := parsePublic(public)
	if err != nil {
		return nil, fmt.Errorf("DNSSEC key file %s%s: %w", base, publicEnding, err)
	}
	k, err := parsePrivate(record.Hdr.Name, private)
	if err != nil {
		return nil, fmt.Errorf("DNSSEC key file %s%s: %w", base, privateEnding, err)
	}
	k.origin = originOf(public)
	if k.PublicKey() != record.PublicKey {
		return nil, fmt.Errorf("DNSSEC key files %s.key and .private: the private key does not belong to the public key",
			base)
	}
	if want := k.FileName(); want != filepath.Base(base) {
		return nil, fmt.Errorf("DNSSEC key file %s%s: contains the key %s; the name must be %s", base, publicEnding, want,
			want+publicEnding)
	}
	return k, nil
}

func readKeyFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil,
			fmt.Errorf(
				"DNSSEC key file %s is missing, but its counterpart exists: restore it from a backup or another node, or "+
					"remove both to create a new key", path)
	}
	if err != nil {
		return nil, fmt.Errorf("DNSSEC key file: %w", err)
	}
	if strings.HasSuffix(path, privateEnding) && info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("DNSSEC key file %s has mode %04o: %w; run: chmod 600 %s", path, info.Mode().Perm(),
			errOpenToOthers, path)
	}
	if info.Size() > maxKeyFile {
		return nil, fmt.Errorf("DNSSEC key file %s: %d octets; the maximum is %d", path, info.Size(), maxKeyFile)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("DNSSEC key file: %w", err)
	}
	return content, nil
}

// originOf returns the id of the node that created the key of a .key file; "" if the file does not contain the id.
func originOf(public []byte) string {
	for line := range strings.Lines(string(public)) {
		if origin, ok := strings.CutPrefix(line, originMark); ok {
			return strings.TrimSpace(origin)
		}
	}
	return ""
}

// parsePublic parses the DNSKEY record of a .key file.
func parsePublic(content []byte) (*dns.DNSKEY, error) {
	parser := dns.NewZoneParser(bytes.NewReader(content), ".", "")
	rr, ok := parser.Next()
	if err := parser.Err(); err != nil {
		return nil, err
	}
	if !ok {
		return nil, errors.New("contains no record; expected a DNSKEY record")
	}
	record, ok := rr.(*dns.DNSKEY)
	if !ok {
		return nil, fmt.Errorf("contains a record of type %s; expected DNSKEY", dns.TypeToString[rr.Header().Rrtype])
	}
	if record.Flags != Flags || record.Protocol != protocol {
		return nil, fmt.Errorf("flags %d, protocol %d; only %d, %d (combined signing key) can be used", record.Flags,
			record.Protocol, Flags, protocol)
	}
	if err := Algorithm(record.Algorithm).validate(); err != nil {
		return nil, err
	}
	return record, nil
}

// parsePrivate parses a .private file of BIND's format v1.
func parsePrivate(zone string, content []byte) (*Key, error) {
	fields := make(map[string]string)
	lines := bufio.NewScanner(bytes.NewReader(content))
	for lines.Scan() {
		name, value, ok := strings.Cut(lines.Text(), ":")
		if ok {
			fields[strings.TrimSpace(name)] = strings.TrimSpace(value)
		}
	}
	if !strings.HasPrefix(fields["Private-key-format"], "v1.") {
		return nil, fmt.Errorf("field Private-key-format is %q; v1.3 is expected", fields["Private-key-format"])
	}
	number, _, _ := strings.Cut(fields["Algorithm"], " ")
	n, err := strconv.ParseUint(number, 10, 8)
	if err != nil {
		return nil, fmt.Errorf("field Algorithm is %q; a number such as %d is expected", fields["Algorithm"],
			uint8(ECDSAP256SHA256))
	}
	if err := Algorithm(n).validate(); err != nil {
		return nil, err
	}
	content, err = base64.StdEncoding.DecodeString(fields["PrivateKey"])
	if err != nil {
		return nil, errors.New("PrivateKey is not base64")
	}
	private, err := Algorithm(n).parse(padded(content))
	if err != nil {
		return nil, fmt.Errorf("PrivateKey %w", err)
	}
	k, err := newKey(zone, "", private, time.Time{})
	if err != nil {
		return nil, err
	}
	for name, to := range map[string]*time.Time{"Created": &k.created, "Activate": &k.activate, "Inactive": &k.inactive} {
		if fields[name] == "" {
			continue
		}
		if *to, err = time.Parse(timeLayout, fields[name]); err != nil {
			return nil, fmt.Errorf("field %s is %q; a time like %s is expected", name, fields[name], timeLayout)
		}
	}
	return k, nil
}
