package model

import "slices"

// ContinentCodes returns the continents of regions.
func ContinentCodes() []string { return []string{"AF", "AN", "AS", "EU", "NA", "OC", "SA"} }

// IsContinent reports whether a code is that of a continent.
func IsContinent(code string) bool { return slices.Contains(ContinentCodes(), code) }

// IsCountry reports whether a code has the form of ISO 3166-1 alpha-2.
func IsCountry(code string) bool {
	capital := func(c byte) bool { return c >= 'A' && c <= 'Z' }
	return len(code) == 2 && capital(code[0]) && capital(code[1])
}
