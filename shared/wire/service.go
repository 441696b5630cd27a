package wire

import "strings"

// CanonicalService returns the canonical form of a service name: lower case, without a trailing
// dot.
func CanonicalService(name string) string {
	return strings.ToLower(strings.TrimSuffix(name, "."))
}

// validService reports whether name is in canonical form and can be part of a backend id (<service>:<address>:<port>),
// a URL path and a log line: letters, digits, '-', '_', '.', and '*' for a wildcard domain.
func validService(name string) bool {
	if name == "" || len(name) > MaxService || name[len(name)-1] == '.' {
		return false
	}
	for i := range len(name) {
		switch c := name[i]; {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9', c == '-', c == '_', c == '.', c == '*':
		default:
			return false
		}
	}
	return true
}
