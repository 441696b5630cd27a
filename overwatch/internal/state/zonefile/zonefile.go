// Package zonefile reads zone files (RFC 1035 section 5) for package config. Package publish, not this package,
// determines whether the records can be served. Read has no state; its result belongs to the caller.
package zonefile

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/miekg/dns"
)

// Limits of a zone file with its included files.
const (
	maxSize    = 16 << 20 // bytes
	maxRecords = 100_000
	maxNames   = 1_000_000 // including the names between a name and the apex, about 500 bytes each
	// The parser leaves an included file only at the next record, so each included file uses memory until then.
	maxFiles = 1000
	// maxFileName is the maximum length of a quoted file name of $INCLUDE in bytes.
	maxFileName = 1024
)

// generate is a directive of BIND. The library sets another TTL for its records than BIND.
const generate = "$GENERATE"

const include = "$INCLUDE"

// Record is a record of a zone file, with the position of its end.
type Record struct {
	RR   dns.RR
	Text string // text of RR: equal records have equal texts
	File string // the opened path
	Line int
}

// At returns "file:line".
func (r *Record) At() string { return fmt.Sprintf("%s:%d", r.File, r.Line) }

// Read returns the records of a file in their order. Names are relative to apex, and records before the first $TTL have
// ttl. Included files must be in the folder of the file or below. Links cannot lead out of the folder.
func Read(path, apex string, ttl uint32) ([]Record, error) {
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return nil, plain(err)
	}
	defer func() { _ = root.Close() }()
	files := &folder{root: root, path: filepath.Dir(path), left: maxSize}
	file, err := files.Open(filepath.Base(path))
	if err != nil {
		return nil, plain(err)
	}
	defer func() { _ = file.Close() }()
	parser := dns.NewZoneParser(file, dns.Fqdn(apex), filepath.Base(path))
	parser.SetDefaultTTL(ttl)
	parser.SetIncludeAllowed(true)
	parser.SetIncludeFS(files)
	var records []Record
	names := make(map[string]bool)
	for rr, ok := parser.Next(); ok; rr, ok = parser.Next() {
		if len(records) == maxRecords {
			return nil, fmt.Errorf("%s: has more than %d records, which is the limit", files.currentPath(), maxRecords)
		}
		if addWithParents(names, rr.Header().Name, dns.Fqdn(apex)); len(names) > maxNames {
			return nil, fmt.Errorf("%s: its records make more than %d names, with those between them and %s, which is the limit",
				files.currentPath(), maxNames, apex)
		}
		name, line := files.position()
		records = append(records, Record{RR: rr, Text: rr.String(), File: name, Line: line})
	}
	if files.fault != "" {
		return nil, fmt.Errorf("%s: %s", files.currentPath(), files.fault)
	}
	if err := parser.Err(); err != nil {
		return nil, fmt.Errorf("%s: %s", files.currentPath(), strings.Replace(err.Error(), "dns: ", "", 1))
	}
	return records, nil
}

// addWithParents adds a name and its parent names up to the apex.
func addWithParents(names map[string]bool, name, apex string) {
	for name != apex && !names[name] {
		names[name] = true
		at, end := dns.NextLabel(name, 0)
		if end {
			return
		}
		name = name[at:]
	}
}

// plain removes the path from an error, because the message already contains it.
func plain(err error) error {
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("cannot be read: %w", at.Err)
	}
	return err
}

// folder opens the files of a folder, and tracks the reading position in each file.
type folder struct {
	root  *os.Root
	path  string
	open  []*source // innermost last
	left  int       // remaining bytes
	files int       // that were opened
	fault string    // reason for the end of reading
}

// Open implements fs.FS.
func (f *folder) Open(name string) (fs.File, error) {
	if f.files++; f.files > maxFiles {
		return nil, fmt.Errorf("more than %d files are included, which is the limit", maxFiles)
	}
	info, err := f.root.Stat(filepath.FromSlash(name))
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("not a regular file")
	}
	if err != nil {
		return nil, err
	}
	file, err := f.root.Open(filepath.FromSlash(name))
	if err != nil {
		return nil, err
	}
	s := &source{File: file, reader: bufio.NewReader(file), folder: f, name: filepath.Join(f.path, name)}
	f.open = append(f.open, s)
	return s, nil
}

// position returns the reading position in the innermost open file: the line of the last octet.
func (f *folder) position() (name string, line int) {
	s := f.open[len(f.open)-1]
	if s.within {
		return s.name, s.lines + 1
	}
	return s.name, max(s.lines, 1)
}

func (f *folder) currentPath() string {
	name, line := f.position()
	return fmt.Sprintf("%s:%d", name, line)
}

// source is an open file. The parser reads it octet by octet, so that the line is known.
type source struct {
	fs.File
	folder *folder
	reader *bufio.Reader
	name   string
	lines  int
	within bool   // the last octet is not the end of a line
	begin  []byte // the first octets of the line
	// beforeName: the line so far is $INCLUDE and blanks. inName: the position is in the quoted file name of an $INCLUDE.
	beforeName, inName bool
}

// ReadByte implements io.ByteReader.
func (s *source) ReadByte() (byte, error) {
	if s.folder.left--; s.folder.left < 0 {
		s.folder.fault = fmt.Sprintf("more than %d octets with what is included, which is the limit", maxSize)
	}
	if s.folder.fault != "" {
		return 0, io.EOF
	}
	octet, err := s.reader.ReadByte()
	if err != nil {
		return 0, err
	}
	if octet == '"' && s.skipsQuote() {
		return s.ReadByte()
	}
	isBlank := octet == ' ' || octet == '\t'
	s.beforeName = isBlank && (s.beforeName || strings.EqualFold(string(s.begin), include))
	s.within = octet != '\n'
	if !s.within {
		s.lines++
		s.begin = s.begin[:0]
	} else if len(s.begin) < len(generate) {
		if s.begin = append(s.begin, octet); strings.EqualFold(string(s.begin), generate) {
			s.folder.fault = generate + " is not read: write its records out"
		}
	}
	return octet, nil
}

// skipsQuote reports whether the last quotation mark belongs to the file name of an $INCLUDE, because the library does
// not parse quoted file names. Names with blanks or semicolons retain their quotation marks, so that the library
// rejects them.
func (s *source) skipsQuote() bool {
	if s.inName {
		s.inName = false
		return true
	}
	if !s.beforeName {
		return false
	}
	ahead, _ := s.reader.Peek(maxFileName)
	name, rest, closed := bytes.Cut(ahead, []byte{'"'})
	ends := len(rest) == 0 || bytes.IndexByte([]byte(" \t\r\n;"), rest[0]) >= 0
	s.inName = closed && ends && len(name) > 0 && !bytes.ContainsAny(name, " \t\r\n;")
	return s.inName
}

// Close implements fs.File. Files end in the reverse order of their opening.
func (s *source) Close() error {
	if n := len(s.folder.open); n > 1 {
		s.folder.open = s.folder.open[:n-1]
	}
	return s.File.Close()
}
