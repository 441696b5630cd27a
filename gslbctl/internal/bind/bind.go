// Package bind owns the conversion of a zone file of BIND, NSD or Knot into files for an overwatch node. Package cli
// calls it (gslbctl import). It reads the zone file and its includes, makes no request and writes nothing.
package bind

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/miekg/dns"

	"gslb.internal/gslbctl/internal/imports"
)

// Bounds of a zone file with its includes: those of a node.
const (
	maxRecords = 100_000
	maxFiles   = 1000
)

// Read converts the zone file at path. Its includes must be in the same folder or below. It keeps the two TTLs of the
// SOA; the other times of the SOA are the node's own.
func Read(path, zone string) (*imports.Result, error) {
	records, err := parse(path, zone)
	if err != nil {
		return nil, err
	}
	served, left, soa := imports.Served(records, zone)
	if soa == nil {
		return nil, fmt.Errorf("%s: there is no SOA of %s: give the zone that the file is for in --zone", path, zone)
	}
	result := &imports.Result{}
	apex, negative := result.TTLs(zone, soa.Hdr.Ttl, soa)
	result.Config.DNS.ApexTTL, result.Config.DNS.NegativeTTL = apex, &negative
	result.Put(zone, served, left)
	return result, nil
}

// parse returns the records of a zone file and its includes, at most maxRecords.
func parse(path, zone string) ([]dns.RR, error) {
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	files := &folder{root: root}
	file, err := files.Open(filepath.Base(path))
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	parser := dns.NewZoneParser(file, zone, filepath.Base(path))
	parser.SetIncludeAllowed(true)
	parser.SetIncludeFS(files)
	var records []dns.RR
	for rr, ok := parser.Next(); ok; rr, ok = parser.Next() {
		if len(records) == maxRecords {
			return nil, fmt.Errorf("%s: more than %d records, which is all that a node reads of one zone", path, maxRecords)
		}
		records = append(records, rr)
	}
	return records, parser.Err()
}

// folder opens regular files of a folder, at most maxFiles. A file with $GENERATE is an error, because the DNS library
// gives its records another TTL than BIND does.
type folder struct {
	root   *os.Root
	opened int
}

// Open implements fs.FS.
func (f *folder) Open(name string) (fs.File, error) {
	if f.opened++; f.opened > maxFiles {
		return nil, fmt.Errorf("more than %d files, which is all that a node reads of one zone", maxFiles)
	}
	info, err := f.root.Stat(filepath.FromSlash(name))
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", name)
	}
	if err := f.generates(name); err != nil {
		return nil, err
	}
	return f.root.Open(filepath.FromSlash(name))
}

func (f *folder) generates(name string) error {
	file, err := f.root.Open(filepath.FromSlash(name))
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	lines := bufio.NewScanner(file)
	for n := 1; lines.Scan(); n++ {
		if len(lines.Text()) >= 9 && strings.EqualFold(lines.Text()[:9], "$GENERATE") {
			return fmt.Errorf("%s:%d: $GENERATE is not read: write its records out, as named-checkzone -D does", name, n)
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return fmt.Errorf("%s: a line is longer than %d octets", name, bufio.MaxScanTokenSize)
	}
	return lines.Err()
}
