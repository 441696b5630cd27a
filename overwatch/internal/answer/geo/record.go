package geo

import (
	"cmp"
	"errors"
	"math"
	"strings"

	"github.com/oschwald/maxminddb-golang/v2"
)

// decodeRecord decodes a record. It decodes a record in one of the two layouts in one pass, and any other record field
// by field, such as a record with a country in one layout and a continent in the other.
func decodeRecord(r maxminddb.Result) (Record, error) {
	var nested layout[nestedCode]
	if r.Decode(&nested) == nil {
		return nested.record(cmp.Or(nested.Country.Country, nested.CountryCode),
			cmp.Or(nested.Continent.Continent, nested.ContinentCode)), nil
	}
	var flat layout[string]
	if r.Decode(&flat) == nil {
		return flat.record(cmp.Or(flat.CountryCode, flat.Country), cmp.Or(flat.ContinentCode, flat.Continent)), nil
	}
	return decodeFields(r)
}

// layout is a record. Its country and continent are texts, or maps with a code.
type layout[code any] struct {
	Country       code        `maxminddb:"country"`
	CountryCode   string      `maxminddb:"country_code"`
	Continent     code        `maxminddb:"continent"`
	ContinentCode string      `maxminddb:"continent_code"`
	Location      coordinates `maxminddb:"location"`
	Latitude      *float64    `maxminddb:"latitude"`
	Longitude     *float64    `maxminddb:"longitude"`
}

// nestedCode is a country or a continent in MaxMind's layout.
type nestedCode struct {
	Country   string `maxminddb:"iso_code"`
	Continent string `maxminddb:"code"`
}

// coordinates are nil if the record has none.
type coordinates struct {
	Latitude  *float64 `maxminddb:"latitude"`
	Longitude *float64 `maxminddb:"longitude"`
}

// decodeFields decodes the fields of a record one by one. A field of an unexpected type is ignored, because layouts
// differ.
func decodeFields(r maxminddb.Result) (Record, error) {
	var nested layout[nestedCode]
	var flat layout[string]
	for _, field := range []struct {
		name string
		into any
	}{
		{"country", &nested.Country}, {"country_code", &flat.CountryCode}, {"country", &flat.Country},
		{"continent", &nested.Continent}, {"continent_code", &flat.ContinentCode}, {"continent", &flat.Continent},
		{"location", &flat.Location}, {"latitude", &flat.Latitude}, {"longitude", &flat.Longitude},
	} {
		var other maxminddb.UnmarshalTypeError
		if err := r.DecodePath(field.into, field.name); err != nil && !errors.As(err, &other) {
			return Record{}, err
		}
	}
	return flat.record(cmp.Or(nested.Country.Country, flat.CountryCode, flat.Country),
		cmp.Or(nested.Continent.Continent, flat.ContinentCode, flat.Continent)), nil
}

// record returns the Record with this country and continent. The country determines a missing continent.
func (l *layout[code]) record(country, continent string) Record {
	p := Record{
		Country:   currentCountry(country),
		Continent: strings.ToUpper(continent),
		Position: cmp.Or(positionOf(l.Location.Latitude, l.Location.Longitude),
			positionOf(l.Latitude, l.Longitude)),
	}
	if p.Continent == "" {
		p.Continent = continentOf(country)
	}
	return p
}

// positionOf returns nil for missing or invalid coordinates.
func positionOf(latitude, longitude *float64) *Position {
	// These comparisons are false for NaN.
	if latitude != nil && longitude != nil && math.Abs(*latitude) <= 90 && math.Abs(*longitude) <= 180 {
		return &Position{*latitude, *longitude}
	}
	return nil
}
