package geo

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"slices"

	"github.com/oschwald/maxminddb-golang/v2"
)

// MaxDatabaseOctets bounds the database file that is read into memory; MaxMind's largest City file is about 130 MB.
const MaxDatabaseOctets = 1 << 30

// Place is the database's record of an address. Codes are upper case, empty when unknown.
type Place struct {
	Country   string    // ISO 3166-1 alpha-2
	Continent string    // two letters
	Position  *Position // nil: unknown, or not on the earth
}

// Database is an MMDB file in MaxMind's layout (country.iso_code, continent.code) or a flat one (country_code or
// country, continent_code or continent). Positions are in location.latitude and location.longitude, or in latitude
// and longitude. It holds the whole file in memory, so that the file may be replaced or truncated meanwhile.
type Database struct {
	reader  *maxminddb.Reader
	tree    searchTree
	samples samples
	places  []Place // of the different records, in the order of the first network; the first place is unknown
	// placeOf4 and placeOf6 have the index of the place for each network of the tree, in the order of addresses.
	placeOf4, placeOf6 []uint32
}

// ErrNoPlaces is the error of a database that can be read and places no client, such as one of networks' owners.
var ErrNoPlaces = errors.New("no record has a country, a continent or a position: " +
	"give a database of countries or cities")

// ReadDatabase reads and checks the file at path. The error is ErrNoPlaces for a database without places.
func ReadDatabase(path string) (*Database, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("reading geolocation database: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("reading geolocation database %s: not a regular file", path)
	}
	if info.Size() > MaxDatabaseOctets {
		return nil, fmt.Errorf("reading geolocation database %s: %d octets, at most %d are read", path, info.Size(),
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
	if !d.hasPlaces() {
		return nil, fmt.Errorf("geolocation database %s (%s): %w", path, d.reader.Metadata.DatabaseType, ErrNoPlaces)
	}
	return d, nil
}

// parseDatabase checks that content is an MMDB file whose networks can all be read. The database retains content.
func parseDatabase(content []byte) (*Database, error) {
	reader, err := maxminddb.OpenBytes(content)
	if err != nil {
		return nil, err
	}
	d := &Database{reader: reader, samples: make(samples), places: []Place{{}}}
	if d.tree, err = newSearchTree(content, reader.Metadata); err != nil {
		return nil, err
	}
	known := map[uint32]uint32{0: 0} // the index of the place by the reference to the record
	if d.placeOf4, err = d.readPlaces(known, d.tree.walk4, prefix4); err != nil {
		return nil, err
	}
	if d.placeOf6, err = d.readPlaces(known, d.tree.walk6, prefix6); err != nil {
		return nil, err
	}
	return d, nil
}

// readPlaces returns the index of the place for each network of a walk. It decodes each record once: many networks
// share a record.
func (d *Database) readPlaces(known map[uint32]uint32, walk func(func(block) error) error,
	prefixOf func(block) netip.Prefix) (placeOf []uint32, err error) {
	err = walk(func(n block) error {
		place, isKnown := known[n.value]
		if !isKnown {
			p, err := placeOfRecord(d.reader.LookupOffset(d.tree.offset(n.value)))
			if err != nil {
				return fmt.Errorf("record of %s: %w", prefixOf(n), err)
			}
			place = uint32(len(d.places))
			known[n.value], d.places = place, append(d.places, p)
			d.samples.add(prefixOf(n), p.Position)
		}
		placeOf = append(placeOf, place)
		return nil
	})
	return placeOf, err
}

// blocks calls add4 and add6 with the networks of the database in the order of addresses. The value of a network is
// the entry of its place in values. Together the networks cover all addresses.
func (d *Database) blocks(values []uint16, add4, add6 func(block)) error {
	visit := func(placeOf []uint32, add func(block)) func(block) error {
		return func(n block) error {
			n.value = uint32(values[placeOf[0]])
			placeOf = placeOf[1:]
			add(n)
			return nil
		}
	}
	if err := d.tree.walk4(visit(d.placeOf4, add4)); err != nil {
		return err
	}
	return d.tree.walk6(visit(d.placeOf6, add6))
}

// hasPlaces reports whether any record has a place.
func (d *Database) hasPlaces() bool {
	return slices.ContainsFunc(d.places, func(p Place) bool { return p != (Place{}) })
}

// lookup returns the place of an address and the network of its record, none of an IPv6 address in a file of IPv4.
func (d *Database) lookup(a netip.Addr) (Place, netip.Prefix, error) {
	if d.reader.Metadata.IPVersion == 4 && a.Is6() {
		return Place{}, netip.Prefix{}, nil
	}
	r := d.reader.Lookup(a)
	if err := r.Err(); err != nil || !r.Found() {
		return Place{}, netip.Prefix{}, err
	}
	p, err := placeOfRecord(r)
	return p, r.Prefix(), err
}
