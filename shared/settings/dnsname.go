package settings

import (
	"fmt"
	"net/netip"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// Bounds of a domain name written as text without its final dot (RFC 1035 section 3.1), in octets.
const (
	maxName  = 253
	maxLabel = 63
)

// ParseName returns the canonical form of a domain name, in which names are compared: lower case, no final dot. For
// an invalid text, remedy states how to correct it.
func ParseName(text string) (name, remedy string) {
	name = strings.ToLower(strings.TrimSuffix(text, "."))
	switch {
	case name == "":
		return "", "give a domain name, such as app.example.com"
	case !ascii(name):
		return "", idnRemedy(text)
	case len(name) > maxName:
		return "", fmt.Sprintf("the name has %d octets, at most %d are allowed", len(name), maxName)
	}
	if _, err := netip.ParseAddr(name); err == nil {
		return "", "this is an address; give a domain name, such as app.example.com"
	}
	for label := range strings.SplitSeq(name, ".") {
		if remedy := labelRemedy(label); remedy != "" {
			return "", remedy
		}
	}
	return name, ""
}

// ParseHost is ParseName for the name of a host, which never ends in a number: 192.0.2.300 is a mistyped address.
func ParseHost(text string) (name, remedy string) {
	name, remedy = ParseName(text)
	last := name[strings.LastIndexByte(name, '.')+1:]
	if remedy == "" && strings.Trim(last, "0123456789") == "" {
		return "", "it ends in a number, so it is no host name, and no address either: give a host name, such as " +
			"app-1.example.net"
	}
	return name, remedy
}

// ParseService is ParseName for the name of a service, which may also be a wildcard: "*." before a name.
func ParseService(text string) (name, remedy string) {
	parent, wildcard := strings.CutPrefix(text, "*.")
	name, remedy = ParseName(parent)
	if wildcard && remedy == "" {
		name = "*." + name
	}
	return name, remedy
}

func labelRemedy(label string) string {
	switch {
	case label == "":
		return "it has two adjacent dots, or a dot at the beginning: remove the dot"
	case len(label) > maxLabel:
		return fmt.Sprintf("the label %s has %d octets, at most %d are allowed", quoteValue(label), len(label), maxLabel)
	case label[0] == '-' || label[len(label)-1] == '-':
		return fmt.Sprintf("the label %s begins or ends with a hyphen", quoteValue(label))
	case strings.ContainsFunc(label, notInLabel):
		return "a name has letters, digits, hyphens, underscores and dots only"
	}
	return ""
}

func notInLabel(r rune) bool {
	return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_'
}

// idnRemedy returns the A-label form of an internationalised name (RFC 5890).
func idnRemedy(text string) string {
	if utf8.ValidString(text) {
		if encoded, err := idna.Lookup.ToASCII(strings.TrimSuffix(text, ".")); err == nil {
			return "write the name as in the DNS, in its A-label form: " + encoded
		}
	}
	return "write the name as in the DNS: internationalised labels in their A-label form (xn--...)"
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
