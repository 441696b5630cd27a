package store

import (
	"strconv"
	"sync/atomic"
	"testing"
)

// BenchmarkPutPin is one enrolment after the other, each on the disk before the next: what a node's disk allows.
func BenchmarkPutPin(b *testing.B) {
	s := open(b, b.TempDir())
	for i := 0; b.Loop(); i++ {
		if err := s.PutPin(testPin("agent-" + strconv.Itoa(i))); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkPutPin_Together is many enrolments at the same time, which share transactions.
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
