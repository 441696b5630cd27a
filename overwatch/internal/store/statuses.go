package store

import (
	"encoding/binary"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// statusBatch is how many statuses go into one transaction: few enough that a pin does not wait long behind them.
const statusBatch = 5000

// LoadStatuses returns the statuses saved last, ordered by service and address.
func (s *Store) LoadStatuses() (statuses []Status, err error) {
	err = s.read(bucketStatuses, func(key, value []byte) error {
		status, ok := decodeStatus(key, value)
		if !ok {
			return fmt.Errorf("status %q cannot be decoded", key)
		}
		statuses = append(statuses, status)
		return nil
	})
	return statuses, err
}

// SaveStatuses makes the stored statuses equal to these: it writes those that are new or changed and deletes those that are not
// among them. It is meant to be called every now and then, not for every check. With many changes it takes several transactions;
// an error or the end of the process in between leaves some of them saved, which does no harm: each stands for itself.
func (s *Store) SaveStatuses(statuses []Status) error {
	want := make(map[string][]byte, len(statuses))
	for _, status := range statuses {
		key, value := encodeStatus(status)
		want[string(key)] = value
	}
	var gone []string
	err := s.read(bucketStatuses, func(key, value []byte) error {
		switch wanted, there := want[string(key)]; {
		case !there:
			gone = append(gone, string(key))
		case string(wanted) == string(value):
			delete(want, string(key))
		}
		return nil
	})
	if err != nil {
		return err
	}
	keys := append(gone, slices.Sorted(maps.Keys(want))...)
	for batch := range slices.Chunk(keys, statusBatch) {
		if err := s.update(func(w *writer) {
			for _, key := range batch {
				if value, there := want[key]; there {
					w.put(bucketStatuses, []byte(key), value)
				} else {
					w.delete(bucketStatuses, []byte(key))
				}
			}
		}); err != nil {
			return err
		}
	}
	return nil
}

// A status has service, a zero octet, 16 octets of address and 2 of port as its key; its value is one octet for healthy, the
// latency in microseconds and the time in milliseconds, both as varints.

func encodeStatus(s Status) (key, value []byte) {
	address := s.Address.As16()
	key = append(append([]byte(s.Service), 0), address[:]...)
	key = binary.BigEndian.AppendUint16(key, s.Port)
	value = []byte{0}
	if s.Healthy {
		value[0] = 1
	}
	value = binary.AppendUvarint(value, uint64(max(s.Latency, 0)/time.Microsecond))
	return key, binary.AppendVarint(value, s.At.UnixMilli())
}

func decodeStatus(key, value []byte) (s Status, ok bool) {
	service, rest, ok := strings.Cut(string(key), "\x00")
	if !ok || len(rest) != 18 || len(value) < 3 {
		return Status{}, false
	}
	s.Service, s.Healthy = service, value[0] == 1
	s.Address = netip.AddrFrom16([16]byte([]byte(rest[:16]))).Unmap()
	s.Port = binary.BigEndian.Uint16([]byte(rest[16:]))
	latency, n := binary.Uvarint(value[1:])
	if n <= 0 {
		return Status{}, false
	}
	at, m := binary.Varint(value[1+n:])
	s.Latency, s.At = time.Duration(latency)*time.Microsecond, time.UnixMilli(at).UTC()
	return s, m > 0
}
