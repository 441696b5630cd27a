package geo

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"math"
	"net/netip"
	"os"
	"strings"

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
// and longitude. It holds the whole file in memory, so that the file may be replaced or cut short meanwhile.
type Database struct {
	reader  *maxminddb.Reader
	samples samples
	places  map[uintptr]Place // by the record's offset: many networks share one, and they are gone through more than once
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

// parseDatabase checks that content is an MMDB file whose networks can all be read. It keeps content.
func parseDatabase(content []byte) (*Database, error) {
	reader, err := maxminddb.OpenBytes(content)
	if err != nil {
		return nil, err
	}
	// Each node takes two records of the file, so no file has more nodes than octets.
	if reader.Metadata.NodeCount > uint(len(content)) {
		return nil, fmt.Errorf("promises %d nodes in %d octets", reader.Metadata.NodeCount, len(content))
	}
	d := &Database{reader: reader, places: make(map[uintptr]Place), samples: make(samples)}
	for r := range reader.Networks() {
		if err := d.learn(r); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// hasPlaces reports whether any record has a place.
func (d *Database) hasPlaces() bool {
	for _, p := range d.places {
		if p != (Place{}) {
			return true
		}
	}
	return false
}

// learn decodes the record of a network, once for all networks that share it.
func (d *Database) learn(r maxminddb.Result) error {
	if err := r.Err(); err != nil {
		return err
	}
	if _, known := d.places[r.Offset()]; known {
		return nil
	}
	p, err := placeOf(r)
	if err != nil {
		return fmt.Errorf("record of %s: %w", r.Prefix(), err)
	}
	d.places[r.Offset()] = p
	d.samples.add(r.Prefix(), p.Position)
	return nil
}

// entry is a network's place, or the reason why it cannot be read.
type entry struct {
	Place
	err error
}

// networks yields each network of the database once, IPv4 networks as IPv4. It ends after the first error.
func (d *Database) networks() iter.Seq2[netip.Prefix, entry] {
	return func(yield func(netip.Prefix, entry) bool) {
		for r := range d.reader.Networks() {
			if err := r.Err(); err != nil {
				yield(netip.Prefix{}, entry{err: err})
				return
			}
			if !yield(canonical(r.Prefix()), entry{Place: d.places[r.Offset()]}) {
				return
			}
		}
	}
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
	p, err := placeOf(r)
	return p, r.Prefix(), err
}

func placeOf(r maxminddb.Result) (Place, error) {
	var country struct {
		Code string `maxminddb:"iso_code"`
	}
	var continent struct {
		Code string `maxminddb:"code"`
	}
	var location struct {
		Latitude  *float64 `maxminddb:"latitude"`
		Longitude *float64 `maxminddb:"longitude"`
	}
	var flat [4]string
	var latitude, longitude *float64
	for _, part := range []struct {
		at   string
		into any
	}{
		{"country", &country}, {"country_code", &flat[0]}, {"country", &flat[1]},
		{"continent", &continent}, {"continent_code", &flat[2]}, {"continent", &flat[3]},
		{"location", &location}, {"latitude", &latitude}, {"longitude", &longitude},
	} {
		// A field of another type counts as absent, because layouts differ.
		var other maxminddb.UnmarshalTypeError
		if err := r.DecodePath(part.into, part.at); err != nil && !errors.As(err, &other) {
			return Place{}, err
		}
	}
	code := cmp.Or(country.Code, flat[0], flat[1])
	p := Place{
		Country:   presentCountry(code),
		Continent: strings.ToUpper(cmp.Or(continent.Code, flat[2], flat[3])),
		Position:  cmp.Or(positionOf(location.Latitude, location.Longitude), positionOf(latitude, longitude)),
	}
	if p.Continent == "" {
		p.Continent = continentOf(code)
	}
	return p, nil
}

// positionOf returns nil for coordinates that are no point on the earth.
func positionOf(latitude, longitude *float64) *Position {
	// Not-a-number fails these comparisons too.
	if latitude != nil && longitude != nil && math.Abs(*latitude) <= 90 && math.Abs(*longitude) <= 180 {
		return &Position{*latitude, *longitude}
	}
	return nil
}
