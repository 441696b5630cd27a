// Package bind owns the conversion of a zone file of BIND, NSD or Knot into files for an overwatch node. Package cli
// calls it (gslbctl import). It reads the zone file and its includes, makes no request and writes nothing.
package bind

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/miekg/dns"

	"gslb.internal/gslbctl/internal/imports"
)

// Bounds of a zone file with its includes. The first two are the bounds of a node.
const (
	maxRecords = 100_000
	maxFiles   = 1000
	maxOctets  = 64 << 20 // of all files together
)

// Read converts the zone file at path. Includes must be in the folder of the zone file or below it. The result keeps
// the TTL and the minimum of the SOA record. The node generates the other SOA fields.
func Read(path, zone string) (*imports.Result, error) {
	records, err := parse(path, zone)
	if err != nil {
		return nil, err
	}
	soa := soaOf(records, zone)
	if soa == nil {
		return nil, fmt.Errorf("%s: there is no SOA of %s: give the zone that the file is for in --zone", path, zone)
	}
	result := &imports.Result{}
	if err := result.AddZoneWith(zone, records, soa.Hdr.Ttl); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	result.Finish()
	return result, nil
}

// parse returns the records of a zone file and its includes, at most maxRecords.
func parse(path, zone string) ([]dns.RR, error) {
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	records, err := parseWith(root, path, zone, 0)
	if soa := soaOf(records, zone); err == nil && soa != nil && soa.Hdr.Ttl == 0 && soa.Minttl > 0 {
		// The SOA record has TTL 0 or no TTL. For records before the first TTL, BIND uses the minimum of the SOA.
		records, err = parseWith(root, path, zone, soa.Minttl)
	}
	return records, err
}

// soaOf returns the SOA of a zone, nil if missing.
func soaOf(records []dns.RR, zone string) *dns.SOA {
	for _, rr := range records {
		if soa, ok := rr.(*dns.SOA); ok && dns.CanonicalName(soa.Hdr.Name) == zone {
			return soa
		}
	}
	return nil
}

// parseWith is parse with ttl, in seconds, as the TTL of records before the first TTL of the file.
func parseWith(root *os.Root, path, zone string, ttl uint32) ([]dns.RR, error) {
	files := &folder{root: root}
	file, err := files.Open(filepath.Base(path))
	if err != nil {
		return nil, err
	}
	parser := dns.NewZoneParser(file, zone, filepath.Base(path))
	parser.SetDefaultTTL(ttl)
	parser.SetIncludeAllowed(true)
	parser.SetIncludeFS(files)
	var records []dns.RR
	for rr, ok := parser.Next(); ok; rr, ok = parser.Next() {
		if len(records) == maxRecords {
			return nil, fmt.Errorf("%s: more than %d records, the limit of a node for a zone", path, maxRecords)
		}
		records = append(records, rr)
	}
	err = parser.Err()
	if err != nil && strings.Contains(err.Error(), "not a TTL") {
		err = fmt.Errorf("%w: a TTL is 0 to %d seconds", err, imports.MaxTTL)
	}
	return records, err
}

// folder opens regular files of a folder: at most maxFiles, with maxOctets together. It rejects a file with $GENERATE,
// because the DNS library assigns other TTLs to the generated records than BIND.
type folder struct {
	root           *os.Root
	opened, octets int
}

// quotedInclude matches an $INCLUDE with a quoted file name, which the DNS library does not read.
var quotedInclude = regexp.MustCompile(`(?im)^(\$INCLUDE[ \t]+)"([^"\s;]+)"`)

// Open implements fs.FS. It removes the quotes around the file names of $INCLUDE and limits serials to 32 bits.
func (f *folder) Open(name string) (fs.File, error) {
	if f.opened++; f.opened > maxFiles {
		return nil, fmt.Errorf("more than %d files, the limit of a node for a zone", maxFiles)
	}
	info, err := f.root.Stat(filepath.FromSlash(name))
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", name)
	}
	if f.octets += int(min(info.Size(), maxOctets+1)); f.octets > maxOctets {
		return nil, fmt.Errorf("%s: the files have more than %d octets together", name, maxOctets)
	}
	content, err := f.root.ReadFile(filepath.FromSlash(name))
	if err != nil {
		return nil, err
	}
	text := string(content)
	if err := generates(name, text); err != nil {
		return nil, err
	}
	text = imports.ShortSerial(quotedInclude.ReplaceAllString(text, "$1$2"))
	return imports.TextFile{Reader: strings.NewReader(text)}, nil
}

// generates returns an error if a line of a file begins with $GENERATE.
func generates(name, text string) error {
	n := 0
	for line := range strings.Lines(text) {
		if n++; len(line) >= 9 && strings.EqualFold(line[:9], "$GENERATE") {
			return fmt.Errorf("%s:%d: $GENERATE is not read: write its records out, as named-checkzone -D does", name,
				n)
		}
	}
	return nil
}
