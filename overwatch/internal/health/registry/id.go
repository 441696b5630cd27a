package registry

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// maxService is the length of the longest DNS name in text form without its trailing dot (RFC 1035 section 3.1).
const maxService = 253

// ID identifies a backend. NewID and ParseID return IDs in canonical form, which can be compared with ==.
type ID struct {
	// Service is a lower-case name without a trailing dot.
	Service string
	// Address has no zone and is not IPv4-mapped.
	Address netip.Addr
	// Port is from 1 to 65535.
	Port uint16
}

// NewID returns the canonical ID of a backend: a lower-case service without a trailing dot, and an IPv4 address for an
// IPv4-mapped IPv6 address. It rejects names and addresses that a backend cannot have.
func NewID(service string, address netip.Addr, port uint16) (ID, error) {
	canonical, err := canonicalService(service)
	if err != nil {
		return ID{}, err
	}
	address = address.Unmap()
	if err := checkAddress(address); err != nil {
		return ID{}, err
	}
	if port == 0 {
		return ID{}, errors.New("port 0: a backend's port is from 1 to 65535")
	}
	return ID{Service: canonical, Address: address, Port: port}, nil
}

// ParseID parses "<service>:<address>:<port>". The service ends at the first colon and the port begins after the last
// colon, so an IPv6 address needs no brackets. Brackets are accepted.
func ParseID(s string) (ID, error) {
	service, rest, found := strings.Cut(s, ":")
	last := strings.LastIndexByte(rest, ':')
	if !found || last < 0 {
		return ID{}, fmt.Errorf("backend id %q: want <service>:<address>:<port>", s)
	}
	address, err := parseAddress(rest[:last])
	if err != nil {
		return ID{}, fmt.Errorf("backend id %q: %w", s, err)
	}
	port, err := parsePort(rest[last+1:])
	if err != nil {
		return ID{}, fmt.Errorf("backend id %q: %w", s, err)
	}
	id, err := NewID(service, address, port)
	if err != nil {
		return ID{}, fmt.Errorf("backend id %q: %w", s, err)
	}
	return id, nil
}

// String returns the id in the form of the API, which ParseID parses.
func (id ID) String() string {
	return id.Service + ":" + id.Address.String() + ":" + strconv.Itoa(int(id.Port))
}

// Compare orders backends by service, then address, then port.
func (id ID) Compare(other ID) int {
	return cmp.Or(strings.Compare(id.Service, other.Service), id.compareEndpoint(other))
}

// compareEndpoint orders the backends of a service.
func (id ID) compareEndpoint(other ID) int {
	return cmp.Or(id.Address.Compare(other.Address), cmp.Compare(id.Port, other.Port))
}

func parseAddress(s string) (netip.Addr, error) {
	bare := s
	if len(s) >= 2 && s[0] == '[' && s[len(s)-1] == ']' {
		bare = s[1 : len(s)-1]
		if !strings.Contains(bare, ":") {
			return netip.Addr{}, fmt.Errorf("address %q: only an IPv6 address may have brackets", s)
		}
	}
	address, err := netip.ParseAddr(bare)
	if err != nil {
		return netip.Addr{}, fmt.Errorf("address %q: want an IPv4 or IPv6 address", s)
	}
	return address, nil
}

// parsePort parses a port without a sign or leading zeros.
func parsePort(s string) (uint16, error) {
	port, err := strconv.ParseUint(s, 10, 16)
	if err != nil || port == 0 || s[0] == '0' || s[0] == '+' {
		return 0, fmt.Errorf("port %q: want a number from 1 to 65535", s)
	}
	return uint16(port), nil
}

// broadcast is the limited broadcast address (RFC 919).
var broadcast = netip.AddrFrom4([4]byte{255, 255, 255, 255})

// checkAddress rejects an address that is not a unicast address of a host.
func checkAddress(a netip.Addr) error {
	switch {
	case !a.IsValid():
		return errors.New("no address: want an IPv4 or IPv6 address")
	case a.Zone() != "":
		return fmt.Errorf("address %s: a zone is valid only on this host", a)
	case a.IsUnspecified(), a.IsMulticast(), a == broadcast:
		return fmt.Errorf("address %s: not a unicast address: want an address such as 192.0.2.10 or 2001:db8::10", a)
	}
	return nil
}

// canonicalService validates a service name and returns it in lower case without a trailing dot. It allocates only if
// the name changes.
func canonicalService(s string) (string, error) {
	name := strings.TrimSuffix(s, ".")
	if name == "" || len(name) > maxService {
		return "", fmt.Errorf("service %q: want a DNS name of 1 to %d octets", s, maxService)
	}
	label := 0
	for i := range len(name) {
		switch c := name[i]; {
		case c == '.' && label == 0:
			return "", fmt.Errorf("service %q: empty label", s)
		case c == '.':
			label = 0
			continue
		case !serviceOctet(c):
			return "", fmt.Errorf("service %q: %q cannot be in a service's name", s, c)
		}
		if label++; label > 63 {
			return "", fmt.Errorf("service %q: a label is longer than 63 octets", s)
		}
	}
	if label == 0 {
		return "", fmt.Errorf("service %q: empty label", s)
	}
	return strings.ToLower(name), nil
}

func serviceOctet(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_' || c == '*'
}
