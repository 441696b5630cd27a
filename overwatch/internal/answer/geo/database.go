package geo

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"slices"

	"github.com/oschwald/maxminddb-golang/v2"
)

// MaxDatabaseOctets is the maximum size of the database file; MaxMind's largest City file has about 130 MB.
const MaxDatabaseOctets = 1 << 30

// Record is the geographic data of a database record. Codes are in upper case, and empty if unknown.
type Record struct {
	Country   string    // ISO 3166-1 alpha-2
	Continent string    // two letters
	Position  *Position // nil if unknown or invalid
}

// Database is an MMDB file in MaxMind's layout (country.iso_code, continent.code) or a flat one (country_code or
// country, continent_code or continent). Positions are in location.latitude and location.longitude, or in latitude
// and longitude. It holds the whole file in memory, so that the file may be replaced or truncated.
type Database struct {
	reader  *maxminddb.Reader
	tree    searchTree
	samples samples
	records []Record // distinct records, in the order of their first network; the first is empty
	// recordOf4 and recordOf6 contain the index in records for each network of the tree, in address order.
	recordOf4, recordOf6 []uint32
}

// ErrNoLocations means that a valid database has no geographic data, such as a database of network owners.
var ErrNoLocations = errors.New("no record has a country, a continent or a position: " +
	"give a database of countries or cities")

// ReadDatabase reads and validates the file at path. The error wraps ErrNoLocations for a database without locations.
func ReadDatabase(path string) (*Database, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("reading geolocation database: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("read geolocation database %s: not a regular file", path)
	}
	if info.Size() > MaxDatabaseOctets {
		return nil, fmt.Errorf("read geolocation database %s: %d octets, the maximum is %d", path, info.Size(),
			MaxDatabaseOctets)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading geolocation database: %w", err)
	}
	d, err := parseDatabase(content)
	if err != nil {
		return nil, fmt.Errorf("geolocation database %s: %w", path, err)
	}
	if !d.hasLocations() {
		return nil, fmt.Errorf("geolocation database %s (%s): %w", path, d.reader.Metadata.DatabaseType, ErrNoLocations)
	}
	return d, nil
}

// parseDatabase checks that content is an MMDB file whose networks can all be read. The database retains content.
func parseDatabase(content []byte) (*Database, error) {
	reader, err := maxminddb.OpenBytes(content)
	if err != nil {
		return nil, err
	}
	d := &Database{reader: reader, samples: make(samples), records: []Record{{}}}
	if d.tree, err = newSearchTree(content, reader.Metadata); err != nil {
		return nil, err
	}
	known := map[uint32]uint32{0: 0} // index in records by reference in the file
	if d.recordOf4, err = d.readRecords(known, d.tree.walk4, prefix4); err != nil {
		return nil, err
	}
	if d.recordOf6, err = d.readRecords(known, d.tree.walk6, prefix6); err != nil {
		return nil, err
	}
	return d, nil
}

// readRecords returns the index in records for each network of a walk. It decodes each record once: many networks
// share a record.
func (d *Database) readRecords(known map[uint32]uint32, walk func(func(block) error) error,
	prefixOf func(block) netip.Prefix) (recordOf []uint32, err error) {
	err = walk(func(n block) error {
		record, isKnown := known[n.value]
		if !isKnown {
			p, err := decodeRecord(d.reader.LookupOffset(d.tree.offset(n.value)))
			if err != nil {
				return fmt.Errorf("record of %s: %w", prefixOf(n), err)
			}
			record = uint32(len(d.records))
			known[n.value], d.records = record, append(d.records, p)
			d.samples.addSample(prefixOf(n), p.Position)
		}
		recordOf = append(recordOf, record)
		return nil
	})
	return recordOf, err
}

// blocks calls add4 and add6 with the networks of the database in the order of addresses. The value of a network is
// values[i] for its record i. The networks cover all addresses.
func (d *Database) blocks(values []uint16, add4, add6 func(block)) error {
	visit := func(recordOf []uint32, add func(block)) func(block) error {
		return func(n block) error {
			n.value = uint32(values[recordOf[0]])
			recordOf = recordOf[1:]
			add(n)
			return nil
		}
	}
	if err := d.tree.walk4(visit(d.recordOf4, add4)); err != nil {
		return err
	}
	return d.tree.walk6(visit(d.recordOf6, add6))
}

// hasLocations reports whether a record has geographic data.
func (d *Database) hasLocations() bool {
	return slices.ContainsFunc(d.records, func(p Record) bool { return p != (Record{}) })
}

// lookup returns the record of an address and its network. Both are zero for an IPv6 address in an IPv4-only file.
func (d *Database) lookup(a netip.Addr) (Record, netip.Prefix, error) {
	if d.reader.Metadata.IPVersion == 4 && a.Is6() {
		return Record{}, netip.Prefix{}, nil
	}
	r := d.reader.Lookup(a)
	if err := r.Err(); err != nil || !r.Found() {
		return Record{}, netip.Prefix{}, err
	}
	p, err := decodeRecord(r)
	return p, r.Prefix(), err
}
