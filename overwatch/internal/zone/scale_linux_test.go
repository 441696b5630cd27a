package zone

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/miekg/dns"
	"golang.org/x/sys/unix"
)

// What a lookup costs with few names and with many when it is looked ahead for a batch.
func BenchmarkAhead_ManyNames(b *testing.B) {
	for _, n := range []int{10, 1000, 100_000} {
		for _, batch := range []int{1, 8, MaxAhead} {
			b.Run(fmt.Sprintf("%d/%d", n, batch), func(b *testing.B) {
				v, names := manyNames(b, n)
				questions := randomQuestions(b, names)
				msg, _ := question(b, names[0], dns.TypeA)
				turns := NewTurns(1, 1)
				var ahead Ahead
				i := 0
				began := threadTime(b)
				var batched [MaxAhead]Question
				for done := 0; b.Loop(); done++ {
					if at := done % batch; at == 0 {
						i = (i + batch) % (len(questions) - batch)
						for k := range batch {
							batched[k] = questions[i+k]
							ahead.Add(&batched[k])
						}
						ahead.Look(v, turns)
					}
					v.Append(msg, &batched[done%batch], turns)
				}
				b.ReportMetric(float64(threadTime(b)-began)/float64(b.N), "cpu-ns/op")
			})
		}
	}
}

// threadTime is the CPU time of the thread that the caller stays on from now on, in nanoseconds: other work on the machine changes it little.
func threadTime(b *testing.B) int64 {
	b.Helper()
	runtime.LockOSThread()
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		b.Fatal(err)
	}
	return t.Nano()
}
