package zone

import (
	"fmt"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// What a lookup costs with few names and with many when it is looked ahead for a batch.
func BenchmarkAhead_ManyNames(b *testing.B) {
	for _, how := range []manner{weighted, placedly, signed} {
		for _, n := range []int{10, 1000, 100_000} {
			b.Run(fmt.Sprintf("%s/%d", how, n), func(b *testing.B) {
				v, names := manyOf(b, n, how)
				v.Gather()
				questions := randomQuestions(b, names)
				for _, batch := range []int{1, 8, MaxAhead} {
					b.Run(fmt.Sprint(batch), func(b *testing.B) { benchmarkAhead(b, v, questions, batch) })
				}
			})
		}
	}
}

func benchmarkAhead(b *testing.B, v *View, questions []Question, batch int) {
	msg := make([]byte, headerSize+len(questions[0].Name)+4, 1<<16)
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
