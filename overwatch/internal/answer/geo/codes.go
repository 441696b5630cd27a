package geo

import "strings"

// successors maps country codes that ISO 3166-1 withdrew, and UK, to current codes. Databases and configurations may
// still contain them.
var successors = map[string]string{
	"AN": "CW", // Netherlands Antilles: most people lived in Curacao
	"BU": "MM", "CS": "RS", "DD": "DE", "FX": "FR", "SU": "RU", "TP": "TL", "UK": "GB", "YD": "YE", "YU": "RS", "ZR": "CD",
}

// regional maps non-country codes of databases to continents.
var regional = map[string]string{"EU": "EU", "AP": "AS"}

// currentCountry returns a country code in upper case. It replaces a withdrawn code by its successor, and returns ""
// for a regional code.
func currentCountry(code string) string {
	code = strings.ToUpper(code)
	if _, is := regional[code]; is {
		return ""
	}
	if successor, retired := successors[code]; retired {
		return successor
	}
	return code
}

// continentOf returns the continent of a country code, which may be withdrawn or regional; "" for an unknown code.
func continentOf(country string) string {
	country = strings.ToUpper(country)
	if continent, is := regional[country]; is {
		return continent
	}
	country = currentCountry(country)
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
