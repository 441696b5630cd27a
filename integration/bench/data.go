//go:build linux

package main

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
)

const (
	zoneName = "bench.test"
	maxNames = 100000
	backends = 4 // of each name, with weights 10, 20, 30 and 40
)

func name(i int) string { return fmt.Sprintf("d%05d.%s", i, zoneName) }

// backend is an address of its own for each backend of each name.
func backend(i, j int) netip.Addr {
	x := i*backends + j
	return netip.AddrFrom4([4]byte{127, byte(100 + x/62500), byte(x / 250 % 250), byte(1 + x%250)})
}

func weight(j int) int { return 10 * (j + 1) }

// file is a text that is written line by line and put into place at once.
type file struct{ strings.Builder }

func (f *file) line(format string, args ...any) {
	fmt.Fprintf(f, format, args...)
	f.WriteByte('\n')
}

// write puts the file into the directory, readable by its owner only since some carry keys.
func (f *file) write(dir, name string) (string, error) {
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", err
	}
	return path, os.WriteFile(path, []byte(f.String()), 0o600)
}

// zoneFile is the zone with the records that each name has.
func zoneFile(names int, records func(f *file, i int)) *file {
	f := &file{}
	f.line("$ORIGIN %s.", zoneName)
	f.line("$TTL 60")
	f.line("@ 3600 IN SOA ns1 hostmaster 1 3600 900 604800 60")
	f.line("@ 3600 IN NS ns1")
	f.line("ns1 3600 IN A 127.0.0.1")
	for i := range names {
		records(f, i)
	}
	return f
}

// oneAddress gives each name a single fixed address.
func oneAddress(f *file, i int) { f.line("d%05d 60 IN A %s", i, backend(i, 0)) }
