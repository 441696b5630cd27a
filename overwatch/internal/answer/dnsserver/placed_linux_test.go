package dnsserver // inside: it uses udpSize

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"net"
	"net/netip"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/miekg/dns"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/answer/geo"
	"gslb.internal/overwatch/internal/answer/zone"
	"gslb.internal/overwatch/internal/policy"
)

// worldView is testView in which the answers of one.gslb.test depend on the client's region, with a table as large as a
// country database.
func worldView(b *testing.B) *zone.View {
	b.Helper()
	random := rand.New(rand.NewPCG(1, 1))
	s := geo.Sources{Regions: []geo.Region{{Name: "home"}, {Name: "far"}, {Name: "farther"}}, DefaultRegion: "home"}
	seen := map[netip.Prefix]bool{}
	for len(s.Mappings) < 300_000 {
		network := netip.PrefixFrom(netip.AddrFrom4([4]byte(binary.BigEndian.AppendUint32(nil, random.Uint32()))),
			12+random.IntN(13)).Masked()
		if !seen[network] {
			seen[network] = true
			s.Mappings = append(s.Mappings, geo.Mapping{CIDR: network, Region: s.Regions[random.IntN(3)].Name})
		}
	}
	table, err := geo.New(s)
	if err != nil {
		b.Fatal(err)
	}
	v := testView(b)
	v.SetRegionTable(table)
	decisions := make([][2]policy.Decision, 4)
	for i := range decisions {
		decisions[i] = [2]policy.Decision{
			{Outcome: policy.Success, TTL: 60, Group: string(rune('a' + i)),
				Members: []policy.Member{{Address: netip.AddrFrom4([4]byte{10, 9, 0, byte(i)}), Parts: 1}}},
			{Outcome: policy.NoData},
		}
	}
	if _, err := zone.NewWriter().SetRegionAnswers(v, "one.gslb.test.", decisions, 1); err != nil {
		b.Fatal(err)
	}
	return v
}

// BenchmarkServer_Placed measures the additional CPU time of a query over sockets if the answer depends on the location
// of the client in a table of 300 000 networks. It alternates these queries with queries for a name with the same
// answer for all clients. The CPU time is the time of this process, including the client. A query itself takes about
// half of the time.
func BenchmarkServer_Placed(b *testing.B) {
	var names [2]string
	var conns [2]*net.UDPConn
	for i, v := range []*zone.View{testView(b), worldView(b)} {
		names[i] = []string{"alike", "placed"}[i]
		s, err := New(Options{Listen: []string{"127.0.0.1:0"}, View: func() *zone.View { return v }, ClientSubnet: true,
			Registerer: prometheus.NewRegistry(), Logger: zerolog.Nop()})
		if err != nil {
			b.Fatal(err)
		}
		ctx, stop := context.WithCancel(b.Context())
		ended := make(chan error, 1)
		go func() { ended <- s.Run(ctx) }()
		defer func() { stop(); <-ended }()
		if conns[i], err = net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(s.Addrs()[0])); err != nil {
			b.Fatal(err)
		}
		defer conns[i].Close()
	}
	random := rand.New(rand.NewPCG(2, 2))
	packets := make([][]byte, 1<<14)
	for i := range packets {
		packets[i] = query(b, "one.gslb.test.", dns.TypeA,
			edns0(1232, option(8, "\x00\x01\x18\x00"+string([]byte{byte(random.Uint32()), byte(random.Uint32()),
				byte(random.Uint32())}))))
	}
	var costs [2][]float64
	var ratios []float64
	for round := 0; b.Loop(); round++ {
		for k := range conns {
			which := (k + round) % 2
			costs[which] = append(costs[which], cpuPerQuery(b, conns[which], packets))
		}
		ratios = append(ratios, costs[1][round]/costs[0][round])
	}
	for i, name := range names {
		slices.Sort(costs[i])
		b.ReportMetric(costs[i][len(costs[i])/2], name+"-ns/query")
	}
	slices.Sort(ratios)
	b.ReportMetric(ratios[len(ratios)/2], "ratio")
	b.ReportMetric(ratios[len(ratios)/4], "ratio-quarter")
	b.ReportMetric(ratios[len(ratios)*3/4], "ratio-three-quarters")
	b.ReportMetric(0, "ns/op")
}

// cpuPerQuery sends all packets, one window at a time, and returns the CPU time of this process per packet, in
// nanoseconds.
func cpuPerQuery(b *testing.B, conn *net.UDPConn, packets [][]byte) float64 {
	b.Helper()
	var before, after syscall.Rusage
	reply := make([]byte, udpSize)
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &before)
	for window := range slices.Chunk(packets, 64) {
		for _, packet := range window {
			if _, err := conn.Write(packet); err != nil {
				b.Fatal(err)
			}
		}
		_ = conn.SetReadDeadline(time.Now().Add(30 * time.Second))
		for range window {
			if _, err := conn.Read(reply); err != nil {
				b.Fatal(err)
			}
		}
	}
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &after)
	cpu := func(r *syscall.Rusage) int64 { return r.Utime.Nano() + r.Stime.Nano() }
	return float64(cpu(&after)-cpu(&before)) / float64(len(packets))
}
