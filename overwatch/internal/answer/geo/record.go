package geo

import (
	"cmp"
	"errors"
	"math"
	"strings"

	"github.com/oschwald/maxminddb-golang/v2"
)

// placeOfRecord decodes a record. Records in one of the two layouts are decoded in one pass. For other records, such as
// one with a country in one layout and a continent in the other, a pass reads each field.
func placeOfRecord(r maxminddb.Result) (Place, error) {
	var nested layout[nestedCode]
	if r.Decode(&nested) == nil {
		return nested.place(cmp.Or(nested.Country.Country, nested.CountryCode),
			cmp.Or(nested.Continent.Continent, nested.ContinentCode)), nil
	}
	var flat layout[string]
	if r.Decode(&flat) == nil {
		return flat.place(cmp.Or(flat.CountryCode, flat.Country), cmp.Or(flat.ContinentCode, flat.Continent)), nil
	}
	return placeOfFields(r)
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

// placeOfFields decodes the fields of a record one by one. A field of another type is absent, because layouts differ.
func placeOfFields(r maxminddb.Result) (Place, error) {
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
			return Place{}, err
		}
	}
	return flat.place(cmp.Or(nested.Country.Country, flat.CountryCode, flat.Country),
		cmp.Or(nested.Continent.Continent, flat.ContinentCode, flat.Continent)), nil
}

// place returns the place with the country and continent of a record. The country decides an absent continent.
func (l *layout[code]) place(country, continent string) Place {
	p := Place{
		Country:   presentCountry(country),
		Continent: strings.ToUpper(continent),
		Position: cmp.Or(positionOf(l.Location.Latitude, l.Location.Longitude),
			positionOf(l.Latitude, l.Longitude)),
	}
	if p.Continent == "" {
		p.Continent = continentOf(country)
	}
	return p
}

// positionOf returns nil for coordinates that are no point on the earth.
func positionOf(latitude, longitude *float64) *Position {
	// Not-a-number fails these comparisons.
	if latitude != nil && longitude != nil && math.Abs(*latitude) <= 90 && math.Abs(*longitude) <= 180 {
		return &Position{*latitude, *longitude}
	}
	return nil
}
