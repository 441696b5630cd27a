package store // inside: it uses inspect and mark

import (
	"net/netip"
	"strconv"
	"sync/atomic"
	"testing"
	"time"
)

// BenchmarkPutPin measures sequential enrolments, each of which is on disk before the next one. The speed depends on
// the disk.
func BenchmarkPutPin(b *testing.B) {
	s := open(b, b.TempDir())
	for i := 0; b.Loop(); i++ {
		if err := s.PutPin(testPin("agent-" + strconv.Itoa(i))); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkPutPin_Together measures many enrolments at the same time, which share transactions.
func BenchmarkPutPin_Together(b *testing.B) {
	s := open(b, b.TempDir())
	var n atomic.Int64
	b.SetParallelism(32)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if err := s.PutPin(testPin("agent-" + strconv.FormatInt(n.Add(1), 10))); err != nil {
				b.Error(err)
			}
		}
	})
}

// BenchmarkLoadStatuses measures the load of 100 000 names with 4 backends each at a start, before the first answer.
func BenchmarkLoadStatuses(b *testing.B) {
	s := open(b, b.TempDir())
	var batch []Status
	for i := range 400_000 {
		batch = append(batch, Status{
			Service: "name-" + strconv.Itoa(i/4) + ".gslb.example.com",
			Address: netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}),
			Port:    80, Healthy: true, Latency: time.Millisecond, At: time.UnixMilli(1700000000123),
			LastHealthyAt: time.UnixMilli(1700000000123),
		})
		if len(batch) == 4096 || i == 399_999 {
			if err := s.SaveStatuses(batch); err != nil {
				b.Fatal(err)
			}
			batch = batch[:0]
		}
	}
	b.Run("load", func(b *testing.B) {
		for b.Loop() {
			if got, err := s.LoadStatuses(); err != nil || len(got) != 400_000 {
				b.Fatal(len(got), err)
			}
		}
	})
	b.Run("verify", func(b *testing.B) {
		for b.Loop() {
			if _, err := inspect(s.path); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("save 4096", func(b *testing.B) {
		all, err := s.LoadStatuses()
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			for i := range 4096 {
				all[i].At = all[i].At.Add(time.Second)
			}
			if err := s.SaveStatuses(all[:4096]); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("copy", func(b *testing.B) {
		for b.Loop() {
			mark(s.changed)
			if err := s.copyIfChanged(); err != nil {
				b.Fatal(err)
			}
		}
	})
}
