//go:build linux

package main

import (
	"fmt"
	"math/rand/v2"
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

// floodNames is the number of invented names that a client prepares. It queries them in rotation.
const floodNames = 1 << 16

// asking selects the queried names: existing names, or invented names as in a flood of random names.
type asking string

const (
	served    asking = ""          // names with addresses
	absent    asking = "absent"    // nonexistent names next to existing names
	below     asking = "below"     // nonexistent names below existing names
	expanded  asking = "expanded"  // names below wildcards
	enclosing asking = "enclosing" // nonexistent names below an empty non-terminal
)

// label returns the i-th name with addresses, relative to the zone.
func (a asking) label(i int) string {
	switch a {
	case expanded:
		return fmt.Sprintf("*.d%05d", i)
	case enclosing:
		return fmt.Sprintf("a.d%05d", i)
	}
	return fmt.Sprintf("d%05d", i)
}

// name returns the i-th name with addresses, in full.
func (a asking) name(i int) string { return a.label(i) + "." + zoneName }

// questions returns the names to query, in the same order in each run.
func (a asking) questions(names int) (all []string) {
	if a == served {
		for i := range names {
			all = append(all, a.name(i))
		}
		return all
	}
	random := rand.New(rand.NewPCG(1, 1)) // the same in each run
	for range floodNames {
		separator := "."
		if a == absent {
			separator = "-"
		}
		all = append(all, fmt.Sprintf("%08x%sd%05d.%s", random.Uint32(), separator, random.IntN(names), zoneName))
	}
	return all
}

// positive reports whether the answers have addresses.
func (a asking) positive() bool { return a == served || a == expanded }

// backend returns the unique address of the j-th backend of the i-th name.
func backend(i, j int) netip.Addr {
	x := i*backends + j
	return netip.AddrFrom4([4]byte{127, byte(100 + x/62500), byte(x / 250 % 250), byte(1 + x%250)})
}

func weight(j int) int { return 10 * (j + 1) }

// file is a text that is composed line by line and written to a directory.
type file struct{ strings.Builder }

func (f *file) line(format string, args ...any) {
	fmt.Fprintf(f, format, args...)
	f.WriteByte('\n')
}

// write writes the file with permissions for only its owner, since some files contain keys, and returns its path.
func (f *file) write(dir, name string) (string, error) {
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", err
	}
	return path, os.WriteFile(path, []byte(f.String()), 0o600)
}

// zoneFile returns the zone as a file. records writes the records of the i-th name.
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

// oneAddress returns a function for zoneFile that writes a single fixed address for each name.
func oneAddress(of asking) func(f *file, i int) {
	return func(f *file, i int) { f.line("%s 60 IN A %s", of.label(i), backend(i, 0)) }
}
