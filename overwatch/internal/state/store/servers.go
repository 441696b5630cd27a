package store

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"strings"

	"gslb.internal/shared/model"
)

// LoadServers returns all servers with an address, ordered by service, address and port.
func (s *Store) LoadServers() (list []model.Server, err error) {
	err = readObjects(s, bucketServers, func(one *model.Server) { list = append(list, *one) })
	return list, err
}

// PutServer stores a server and replaces the server with the same service, address and port.
func (s *Store) PutServer(server model.Server, with ...Entry) error {
	var b Batch
	b.PutServer(server)
	return s.Write(&b, with...)
}

// PutServer stores a server and replaces the server with the same service, address and port.
func (b *Batch) PutServer(server model.Server) {
	putObject(b, bucketServers, string(endpointKey(server.Service, server.Address, server.Port)), &server)
}

// DeleteServer deletes a server, if it exists.
func (b *Batch) DeleteServer(service string, address netip.Addr, port uint16) {
	b.delete(bucketServers, string(endpointKey(service, address, port)))
}

// DeleteServer deletes a server, if it exists.
func (s *Store) DeleteServer(service string, address netip.Addr, port uint16, with ...Entry) error {
	return s.updateAndCopySoon(func(w *writer) { w.delete(bucketServers, endpointKey(service, address, port)) }, with...)
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
	return service, netip.AddrFrom16([16]byte([]byte(rest[:16]))).Unmap(), binary.BigEndian.Uint16([]byte(rest[16:])),
		nil
}
