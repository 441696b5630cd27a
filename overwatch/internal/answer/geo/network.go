package geo

import (
	"encoding/binary"
	"math/bits"
	"net/netip"
)

// Network returns a number that identifies the network of a client. The prefix length is v4Bits (at most 32) for an
// IPv4 or embedded IPv4 address, and v6Bits (at most 64) for other addresses. All addresses that share the first scope
// bits with client have the same number. Network does not allocate.
func Network(client netip.Addr, v4Bits, v6Bits uint8) (network uint64, scope uint8) {
	if !client.IsValid() {
		return 0, 0
	}
	if v4, offset, ok := embeddedIPv4(client); ok {
		return uint64(v4 &^ (1<<(32-v4Bits) - 1)), offset + v4Bits
	}
	b := client.As16()
	hi, lo := binary.BigEndian.Uint64(b[:8]), binary.BigEndian.Uint64(b[8:])
	mask := ^uint64(0) << (64 - v6Bits) // 0 if v6Bits is 0
	scope = v6Bits
	for i := range embeddingPrefixes {
		// Part of the network may embed IPv4 addresses, which belong to other networks.
		if c := &embeddingBits[i]; c.bits > v6Bits && (hi^c.hi)&mask == 0 {
			scope = max(scope, countLeadingZeros(hi^c.hi, lo^c.lo)+1)
		}
	}
	return hi & mask, scope
}

// countLeadingZeros returns the number of leading zero bits of a 128-bit number.
func countLeadingZeros(hi, lo uint64) uint8 {
	if hi != 0 {
		return uint8(bits.LeadingZeros64(hi))
	}
	return uint8(64 + bits.LeadingZeros64(lo))
}

// embeddingBits contains the embeddingPrefixes as numbers.
var embeddingBits = func() (out [len(embeddingPrefixes)]struct {
	hi, lo uint64
	bits   uint8
}) {
	for i, c := range embeddingPrefixes {
		b := c.Addr().As16()
		out[i].hi, out[i].lo, out[i].bits = binary.BigEndian.Uint64(b[:8]), binary.BigEndian.Uint64(b[8:]), uint8(c.Bits())
	}
	return out
}()

// continents lists the countries and territories of ISO 3166-1 by continent, as in common databases.
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
