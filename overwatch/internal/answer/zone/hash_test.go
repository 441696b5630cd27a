package zone // inside: it looks at client

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/policy"
)

// hashed changes a decision so that it is the same for each client network with the given prefix length.
func hashed(d [2]policy.Decision, v4, v6 uint8) [2]policy.Decision {
	for f := range d {
		d[f].Hashed, d[f].ClientBits = len(d[f].Members) > 1, policy.ClientBits{IPv4: v4, IPv6: v6}
	}
	return d
}

func TestSteer_AClientNetworkKeepsToOneAddressInEveryPath(t *testing.T) {
	v := newView(t, nil, contents(t, "gslb.test.", "steer app"))
	w := NewWriter()
	steerHashed := func(addresses string) bool {
		changed, err := w.SetAnswers(v, "app.gslb.test.", hashed(decide(addresses), 24, 56), 2)
		if err != nil {
			t.Fatal(err)
		}
		return changed
	}
	if !steerHashed("10.0.0.1 10.0.0.2 10.0.0.3") || steerHashed("10.0.0.1 10.0.0.2 10.0.0.3") ||
		!steerHashed("10.0.0.1/3 10.0.0.2 10.0.0.3") {
		t.Error("what changed is not what was told")
	}
	seen := map[string]int{}
	for i := range 400 {
		var before string
		for host := range 3 {
			client := netip.AddrFrom4([4]byte{198, 51, byte(i), byte(host * 100)})
			r := v.Resolve("app.gslb.test.", dns.TypeA, false, client, NewRotations(uint64(host), 1))
			msg, q := question(t, "app.gslb.test.", dns.TypeA)
			q.Client = client
			_, answer := v.Append(msg, q, NewRotations(7, 7))
			lead := r.Answer[0].(*dns.A).A.String()
			if host > 0 && lead != before || r.Scope != 24 || answer.Scope != 24 || answer.Answers != 2 {
				t.Fatalf(
					"%s: %s after %s, scope %d and %d, %d addresses",
					client,
					lead,
					before,
					r.Scope,
					answer.Scope,
					answer.Answers,
				)
			}
			before = lead
		}
		seen[before]++
	}
	if seen["10.0.0.1"] < 180 || seen["10.0.0.2"] < 40 || seen["10.0.0.3"] < 40 {
		t.Errorf("%v of 400 networks, due are 240, 80 and 80", seen)
	}
}

// The scope is the longer of the scopes of the location and of the network, so that both apply to all addresses in it.
func TestPlace_TheScopeHoldsForThePlaceAndTheNetwork(t *testing.T) {
	for _, c := range []struct {
		bits   uint8
		client netip.Addr
		scope  uint8
	}{
		{20, clientA, 24}, {24, clientA, 24}, {28, clientA, 28}, {32, clientA, 32}, {4, clientNo, 5}, {8, clientNo, 8},
		{20, clientB, 48},
	} {
		v := newView(t, nil, contents(t, "gslb.test.", "steer app"))
		v.SetRegionTable(testPlaces(t))
		var decisions [][2]policy.Decision
		for i := range 3 {
			d := hashed(decide(fmt.Sprintf("10.0.%d.1 10.0.%d.2", i, i)), c.bits, 2*c.bits)
			for f := range d {
				d[f].Group = fmt.Sprint(i)
			}
			decisions = append(decisions, d)
		}
		if _, err := NewWriter().SetRegionAnswers(v, "app.gslb.test.", decisions, 1); err != nil {
			t.Fatal(err)
		}
		msg, q := question(t, "app.gslb.test.", dns.TypeA)
		q.Client = c.client
		if _, answer := v.Append(msg, q, NewRotations(1, 1)); answer.Scope != c.scope {
			t.Errorf("%s with networks of %d bits: scope %d, want %d", c.client, c.bits, answer.Scope, c.scope)
		}
	}
}
