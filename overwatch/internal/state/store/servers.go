package store

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"gslb.internal/shared/check"
)

// Server is a backend that the API has created.
type Server struct {
	Service   string     `json:"service"`
	Address   netip.Addr `json:"address"`
	Port      uint16     `json:"port"`
	Weight    int        `json:"weight"`
	Region    string     `json:"region"`
	Agent     string     `json:"agent,omitempty"` // id of the agent whose own it is
	Owner     string     `json:"owner,omitempty"`
	Check     check.Spec `json:"check"`
	CreatedAt time.Time  `json:"created_at"`
	UpdatedAt time.Time  `json:"updated_at"`
}

// Shown returns the server as every reader of a log may see it: see check.Details.Shown.
func (s Server) Shown() Server {
	s.Check.Detail = s.Check.Detail.Shown()
	return s
}

// LoadServers returns all servers, ordered by service, address and port.
func (s *Store) LoadServers() ([]Server, error) { return load[Server](s, bucketServers) }

// PutServer stores a server and replaces the one of its service, address and port.
func (s *Store) PutServer(server Server, with ...Entry) error {
	var b Batch
	b.PutServer(server)
	return s.Write(&b, with...)
}

// PutServer stores a server and replaces the one of its service, address and port.
func (b *Batch) PutServer(server Server) {
	b.put(bucketServers, string(endpointKey(server.Service, server.Address, server.Port)), server)
}

// DeleteServer deletes a server. A missing one is no error.
func (b *Batch) DeleteServer(service string, address netip.Addr, port uint16) {
	b.delete(bucketServers, string(endpointKey(service, address, port)))
}

// DeleteServer deletes a server. A missing one is no error.
func (s *Store) DeleteServer(service string, address netip.Addr, port uint16, with ...Entry) error {
	return s.keep(func(w *writer) { w.delete(bucketServers, endpointKey(service, address, port)) }, with...)
}

// endpointKey returns a key of the service, a zero octet, 16 octets of address and 2 of port.
func endpointKey(service string, address netip.Addr, port uint16) []byte {
	as16 := address.As16()
	key := append(append([]byte(service), 0), as16[:]...)
	return binary.BigEndian.AppendUint16(key, port)
}

// decodeEndpoint reads a key of endpointKey.
func decodeEndpoint(key []byte) (service string, address netip.Addr, port uint16, err error) {
	service, rest, ok := strings.Cut(string(key), "\x00")
	if !ok || len(rest) != 18 {
		return "", netip.Addr{}, 0, fmt.Errorf("%d octets behind the service, 18 expected", len(rest))
	}
	return service, netip.AddrFrom16([16]byte([]byte(rest[:16]))).Unmap(), binary.BigEndian.Uint16([]byte(rest[16:])), nil
}
