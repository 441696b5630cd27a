package geotest

import (
	"encoding/binary"
	"math/rand/v2"
	"net/netip"
)

// cities is the number of different records in Large.
const cities = 50_000

// Large returns networks like those of a publisher's database of cities: three of four are IPv4 networks, and they
// share 50 000 records with a country, a continent and a position. The result depends on the number only.
func Large(networks int) []Network {
	random := rand.New(rand.NewPCG(1, 2))
	places := []struct{ country, continent string }{
		{"DE", "EU"}, {"FR", "EU"}, {"GB", "EU"}, {"PL", "EU"}, {"IT", "EU"}, {"US", "NA"}, {"CA", "NA"}, {"MX", "NA"},
		{"BR", "SA"}, {"AR", "SA"}, {"JP", "AS"}, {"IN", "AS"}, {"CN", "AS"}, {"KR", "AS"}, {"AU", "OC"}, {"ZA", "AF"},
		{"NG", "AF"}, {"EG", "AF"}, {"NZ", "OC"}, {"CL", "SA"},
	}
	records := make([]map[string]any, cities)
	for i := range records {
		p := places[random.IntN(len(places))]
		records[i] = Located(p.country, p.continent, random.Float64()*140-60, random.Float64()*360-180)
	}
	out := make([]Network, 0, networks)
	v4, v6 := uint64(1<<24), uint64(0x2400<<48) // the first free addresses; of IPv6, the first 64 bits
	for len(out) < networks {
		n := Network{Record: records[random.IntN(cities)]}
		var octets [16]byte
		if len(out)%4 < 3 {
			bits := 20 + random.IntN(5)
			v4 = align(v4, 32-bits)
			binary.BigEndian.PutUint32(octets[:], uint32(v4))
			n.CIDR = netip.PrefixFrom(netip.AddrFrom4([4]byte(octets[:])), bits)
			v4 += 1 << (32 - bits)
		} else {
			bits := 32 + random.IntN(17)
			v6 = align(v6, 64-bits)
			binary.BigEndian.PutUint64(octets[:], v6)
			n.CIDR = netip.PrefixFrom(netip.AddrFrom16(octets), bits)
			v6 += 1 << (64 - bits)
		}
		out = append(out, n)
	}
	return out
}

// align returns the first multiple of 2^bits that is at least at.
func align(at uint64, bits int) uint64 { return (at + 1<<bits - 1) >> bits << bits }
