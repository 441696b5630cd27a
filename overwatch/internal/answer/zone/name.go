package zone

import (
	"fmt"
	"strings"

	"github.com/miekg/dns"
)

// maxName is the length of the longest name in wire form (RFC 1035 section 2.3.4).
const maxName = 255

// canonical is a fully qualified name in wire form and lower case (RFC 4034 section 6.2). It is a string, so that it
// can be a map key. Its last octet is the root label.
type canonical string

// rootName is the name of the root.
const rootName canonical = "\x00"

// canonicalName returns the canonical form of a name in zone-file form, with or without the final dot.
func canonicalName(text string) (canonical, error) {
	var wire [maxName]byte
	n, err := dns.PackDomainName(dns.Fqdn(text), wire[:], 0, nil, false)
	if err != nil {
		return "", fmt.Errorf("name %q: %w", text, err)
	}
	lowerCase(wire[:n])
	return canonical(wire[:n]), nil
}

// lowerCase converts the letters of a name in wire form to lower case, in place. Length octets are below 'A'.
func lowerCase(wire []byte) {
	for i, c := range wire {
		if 'A' <= c && c <= 'Z' {
			wire[i] = c | 0x20
		}
	}
}

// parent returns the name without its first label; "" for the root.
func (c canonical) parent() canonical {
	if len(c) <= 1 {
		return ""
	}
	return c[c[0]+1:]
}

// countLabels returns the number of labels above the root.
func (c canonical) countLabels() int {
	n := 0
	for ; len(c) > 1; c = c.parent() {
		n++
	}
	return n
}

// countLabels returns the number of labels above the root of a name in wire form.
func countLabels(name []byte) int {
	n := 0
	for at := 0; name[at] != 0; at += int(name[at]) + 1 {
		n++
	}
	return n
}

// containsName reports whether a name in canonical form is the apex or below it.
func (z *Zone) containsName(name []byte) bool {
	for len(name) > len(z.apex) {
		name = name[name[0]+1:]
	}
	return string(name) == string(z.apex)
}

// isWithin reports whether c is the apex or below it.
func (c canonical) isWithin(apex canonical) bool {
	for len(c) > len(apex) {
		c = c.parent()
	}
	return c == apex
}

// isWildcard reports whether the first label is an asterisk (RFC 4592 section 2.1.1).
func (c canonical) isWildcard() bool {
	return strings.HasPrefix(string(c), "\x01*")
}

// String returns the zone-file form.
func (c canonical) String() string {
	text, _, err := dns.UnpackDomainName([]byte(c), 0)
	if err != nil {
		return fmt.Sprintf("%q", string(c))
	}
	return text
}
