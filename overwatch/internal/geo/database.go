package geo

import (
	"errors"
	"fmt"
	"iter"
	"net/netip"
	"os"
	"strings"

	"github.com/oschwald/maxminddb-golang/v2"
)

// MaxDatabaseOctets bounds the database file that is read into memory; MaxMind's largest City file is about 130 MB.
const MaxDatabaseOctets = 1 << 30

// Place is what a database knows of an address. Codes are upper case, empty when unknown.
type Place struct {
	Country   string // ISO 3166-1 alpha-2
	Continent string // two letters
}

// Database is the content of an MMDB file, of MaxMind's layout (country.iso_code, continent.code) or a flat one
// (country_code or country, continent_code or continent). It holds the whole file, so that the file may be replaced or
// cut short while the Database is in use.
type Database struct {
	reader *maxminddb.Reader
}

// ReadDatabase reads and checks the file at path.
func ReadDatabase(path string) (*Database, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("reading geolocation database: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("reading geolocation database %s: not a regular file", path)
	}
	if info.Size() > MaxDatabaseOctets {
		return nil, fmt.Errorf("reading geolocation database %s: %d octets, at most %d are read", path, info.Size(), MaxDatabaseOctets)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading geolocation database: %w", err)
	}
	d, err := parseDatabase(content)
	if err != nil {
		return nil, fmt.Errorf("geolocation database %s: %w", path, err)
	}
	return d, nil
}

// parseDatabase checks that content is an MMDB file each of whose networks can be read. It keeps content.
func parseDatabase(content []byte) (*Database, error) {
	reader, err := maxminddb.OpenBytes(content)
	if err != nil {
		return nil, err
	}
	// Each node takes two records of the file, so a file that promises more nodes than it has octets lies.
	if reader.Metadata.NodeCount > uint(len(content)) {
		return nil, fmt.Errorf("promises %d nodes in %d octets", reader.Metadata.NodeCount, len(content))
	}
	d := &Database{reader: reader}
	for _, at := range d.networks() {
		if at.err != nil {
			return nil, at.err
		}
	}
	return d, nil
}

// entry is a network's place or why it cannot be read.
type entry struct {
	Place
	err error
}

// networks yields each network that the database knows once, IPv4 networks as such. It ends behind the first error.
func (d *Database) networks() iter.Seq2[netip.Prefix, entry] {
	known := make(map[uintptr]Place) // many networks share one record
	return func(yield func(netip.Prefix, entry) bool) {
		for r := range d.reader.Networks() {
			if err := r.Err(); err != nil {
				yield(netip.Prefix{}, entry{err: err})
				return
			}
			p, ok := known[r.Offset()]
			if !ok {
				var err error
				if p, err = placeOf(r); err != nil {
					yield(r.Prefix(), entry{err: fmt.Errorf("record of %s: %w", r.Prefix(), err)})
					return
				}
				known[r.Offset()] = p
			}
			if !yield(canonical(r.Prefix()), entry{Place: p}) {
				return
			}
		}
	}
}

// lookup returns what the database says of an address and the network that says so.
func (d *Database) lookup(a netip.Addr) (Place, netip.Prefix, error) {
	r := d.reader.Lookup(a)
	if err := r.Err(); err != nil || !r.Found() {
		return Place{}, netip.Prefix{}, err
	}
	p, err := placeOf(r)
	return p, r.Prefix(), err
}

func placeOf(r maxminddb.Result) (Place, error) {
	country, err := firstString(r, []any{"country", "iso_code"}, []any{"country_code"}, []any{"country"})
	if err != nil {
		return Place{}, err
	}
	continent, err := firstString(r, []any{"continent", "code"}, []any{"continent_code"}, []any{"continent"})
	if err != nil {
		return Place{}, err
	}
	p := Place{Country: strings.ToUpper(country), Continent: strings.ToUpper(continent)}
	if p.Continent == "" {
		p.Continent = continentOf(p.Country)
	}
	return p, nil
}

// firstString returns the first non-empty string at one of the paths. A path that leads to something else counts as
// absent: layouts differ.
func firstString(r maxminddb.Result, paths ...[]any) (string, error) {
	for _, path := range paths {
		var s string
		err := r.DecodePath(&s, path...)
		var other maxminddb.UnmarshalTypeError
		if err != nil && !errors.As(err, &other) {
			return "", err
		}
		if err == nil && s != "" {
			return s, nil
		}
	}
	return "", nil
}
