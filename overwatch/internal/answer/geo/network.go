package geo

import (
	"encoding/binary"
	"math/bits"
	"net/netip"
)

// Network returns a number for the network of a client, which addresses of that network share. Its prefix has v4Bits
// (at most 32) for an IPv4 address or one that an IPv6 address carries, and v6Bits (at most 64) for others. scope is
// a prefix length as in Table.Locate: all addresses of the client's prefix of that length have the number. It does
// not allocate.
func Network(client netip.Addr, v4Bits, v6Bits uint8) (network uint64, scope uint8) {
	if !client.IsValid() {
		return 0, 0
	}
	if v4, offset, ok := embedded(client); ok {
		return uint64(v4 &^ (1<<(32-v4Bits) - 1)), offset + v4Bits
	}
	b := client.As16()
	hi, lo := binary.BigEndian.Uint64(b[:8]), binary.BigEndian.Uint64(b[8:])
	mask := ^uint64(0) << (64 - v6Bits) // 0 for no bits at all
	scope = v6Bits
	for i := range carriers {
		// A part of the network may carry IPv4 addresses, which are in other networks.
		if c := &carrierBits[i]; c.bits > v6Bits && (hi^c.hi)&mask == 0 {
			scope = max(scope, common(hi^c.hi, lo^c.lo)+1)
		}
	}
	return hi & mask, scope
}

// common returns the number of leading zero bits.
func common(hi, lo uint64) uint8 {
	if hi != 0 {
		return uint8(bits.LeadingZeros64(hi))
	}
	return uint8(64 + bits.LeadingZeros64(lo))
}

// carrierBits holds carriers as numbers.
var carrierBits = func() (out [len(carriers)]struct {
	hi, lo uint64
	bits   uint8
}) {
	for i, c := range carriers {
		b := c.Addr().As16()
		out[i].hi, out[i].lo, out[i].bits = binary.BigEndian.Uint64(b[:8]), binary.BigEndian.Uint64(b[8:]), uint8(c.Bits())
	}
	return out
}()

// continents lists the countries and territories of ISO 3166-1 by continent, as the common databases assign them.
var continents = [...]struct{ code, countries string }{
	{"AF", "AO BF BI BJ BW CD CF CG CI CM CV DJ DZ EG EH ER ET GA GH GM GN GQ GW KE KM LR LS LY MA MG ML MR MU MW MZ " +
		"NA NE NG RE RW SC SD SH SL SN SO SS ST SZ TD TG TN TZ UG YT ZA ZM ZW"},
	{"AN", "AQ BV GS HM TF"},
	{"AS", "AE AF AM AZ BD BH BN BT CC CN CX CY GE HK ID IL IN IO IQ IR JO JP KG KH KP KR KW KZ LA LB LK MM MN MO MV " +
		"MY NP OM PH PK PS QA SA SG SY TH TJ TL TM TR TW UZ VN YE"},
	{"EU", "AD AL AT AX BA BE BG BY CH CZ DE DK EE ES FI FO FR GB GG GI GR HR HU IE IM IS IT JE LI LT LU LV MC MD ME " +
		"MK MT NL NO PL PT RO RS RU SE SI SJ SK SM UA VA XK"},
	{"NA", "AG AI AW BB BL BM BQ BS BZ CA CR CU CW DM DO GD GL GP GT HN HT JM KN KY LC MF MQ MS MX NI PA PM PR SV SX " +
		"TC TT US VC VG VI"},
	{"OC", "AS AU CK FJ FM GU KI MH MP NC NF NR NU NZ PF PG PN PW SB TK TO TV UM VU WF WS"},
	{"SA", "AR BO BR CL CO EC FK GF GY PE PY SR UY VE"},
}
