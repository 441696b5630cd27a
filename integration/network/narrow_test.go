package network_test

import (
	"context"
	"io"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/integration/harness/network"
	"gslb.internal/integration/harness/testbed"
)

// On a path for 1280 octets, where "packet too big" messages are filtered, no TCP connection hangs: large messages of
// and to an agent over IPv4 and IPv6, large answers of the API, and many DNS answers on one connection.
func TestNetwork_WhatIsTooBigVanishes(t *testing.T) {
	testbed.OnNetwork(t, func(t *testing.T, n *network.Network) {
		names := longNames(12) // no packet has room for them
		s := newBranch(t, n, 1, names...)
		agent, eu, us := s.Agents[0], s.Nodes[0], s.Nodes[1]
		s.speakFor(agent, names)
		v4, _ := s.place.Networks()
		us.File.API.More["allowed_networks"] = []string{v4.String(), netip.PrefixFrom(us.API.Addr(), 24).Masked().String()}
		for _, site := range append(s.at, s.place) {
			if err := site.Hole(1280); err != nil {
				t.Fatal(err)
			}
		}
		s.StartPrograms(t)
		s.answeredAlways(t, agent, s.Backends[0])

		began := time.Now()
		response, err := browser(s.place, netip.Addr{}).Get("http://" + us.API.String() + "/api/v1/domains")
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		if err != nil || len(text) < 3000 {
			t.Errorf("the API's answer has %d octets: %v", len(text), err)
		}
		testbed.InTime(t, "a large answer of the API", time.Second, began, time.Now())

		began = time.Now()
		if octets, err := pipelined(s.place.Dial, eu.DNS, names); err != nil || octets < 5000 {
			t.Errorf("answers of %d octets over one TCP connection: %v", octets, err)
		}
		testbed.InTime(t, "answers to many questions on one connection", time.Second, began, time.Now())
	})
}

// pipelined queries a missing type of these names, all at the same time on one connection, and returns the total size
// of the denials in octets.
func pipelined(dial func(ctx context.Context, network, at string) (net.Conn, error), to netip.AddrPort,
	names []string) (octets int, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), testbed.Patience)
	defer cancel()
	raw, err := dial(ctx, "tcp", to.String())
	if err != nil {
		return 0, err
	}
	defer raw.Close()
	_ = raw.SetDeadline(time.Now().Add(testbed.Patience))
	conn := &dns.Conn{Conn: raw}
	for _, name := range names {
		q := new(dns.Msg).SetQuestion(dns.Fqdn(name), dns.TypeMX)
		q.SetEdns0(1232, true)
		if err := conn.WriteMsg(q); err != nil {
			return 0, err
		}
	}
	for range names {
		r, err := conn.ReadMsg()
		if err != nil {
			return octets, err
		}
		octets += compressed(r).Len()
	}
	return octets, nil
}
