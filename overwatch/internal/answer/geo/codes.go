package geo

import "strings"

// successors are the present codes for country codes that ISO 3166-1 has retired, and for UK.
// Databases and configurations may still have them.
var successors = map[string]string{
	"AN": "CW", // Netherlands Antilles: Curacao had most of the people
	"BU": "MM", "CS": "RS", "DD": "DE", "FX": "FR", "SU": "RU", "TP": "TL", "UK": "GB", "YD": "YE", "YU": "RS", "ZR": "CD",
}

// regional are the continents of codes that databases have instead of a country.
var regional = map[string]string{"EU": "EU", "AP": "AS"}

// presentCountry returns a country's code in capitals. It replaces a retired code by its successor, and returns an
// empty text for a regional code.
func presentCountry(code string) string {
	code = strings.ToUpper(code)
	if _, is := regional[code]; is {
		return ""
	}
	if successor, retired := successors[code]; retired {
		return successor
	}
	return code
}

// continentOf returns the continent of a country's code, which may be retired or regional; empty for an unknown code.
func continentOf(country string) string {
	country = strings.ToUpper(country)
	if continent, is := regional[country]; is {
		return continent
	}
	country = presentCountry(country)
	if len(country) != 2 {
		return ""
	}
	for _, c := range continents {
		if strings.Contains(c.countries, country) && (strings.Index(c.countries, country)%3 == 0) {
			return c.code
		}
	}
	return ""
}
