package histogram // inside: it uses bucketOf, least and limit

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// A calculated percentile is never below the true percentile and at most an eighth above it.
func TestQuantile_IsExactToAnEighth(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var c Counter
	var all []time.Duration
	for range 20_000 {
		d := least << random.IntN(20)
		d += time.Duration(random.Int64N(int64(d)))
		c.Add(d, 1)
		all = append(all, d)
	}
	slices.Sort(all)
	var s Snapshot
	c.AddTo(&s)
	for _, q := range []float64{0.01, 0.5, 0.95, 0.99, 0.999, 1} {
		want := all[max(int(q*float64(len(all)))-1, 0)]
		if got := s.Quantile(q); got < want || got > want+want/8+1 {
			t.Errorf("the %v quantile is %v, got %v", q, want, got)
		}
	}
}

func TestBucketOf_EveryDurationIsBelowTheLimitOfItsBucketOnly(t *testing.T) {
	for d := least; d < most; d += d/7 + 1 {
		b := bucketOf(d)
		if d >= limit(b) || b > 0 && d < limit(b-1) {
			t.Fatalf("%v is in bucket %d, from %v to %v", d, b, limit(b-1), limit(b))
		}
	}
	for d, want := range map[time.Duration]int{-1: 0, 0: 0, least - 1: 0, least: 0, most: buckets - 1,
		time.Hour: buckets - 1} {
		if got := bucketOf(d); got != want {
			t.Errorf("%v is in bucket %d, want %d", d, got, want)
		}
	}
}

func TestSnapshot_SinceAndOfNothing(t *testing.T) {
	var c Counter
	var before, after, none Snapshot
	c.Add(time.Millisecond, 3)
	c.AddTo(&before)
	c.Add(time.Second, 1)
	c.Add(time.Second, 0)
	c.AddTo(&after)
	since := after.Since(&before)
	if since.Count() != 1 || since.Mean() != time.Second {
		t.Errorf("%d, %v", since.Count(), since.Mean())
	}
	if none.Quantile(0.5) != 0 || none.Mean() != 0 {
		t.Error("nothing has a percentile")
	}
}

func TestAdd_AllocatesNothing(t *testing.T) {
	var c Counter
	if n := testing.AllocsPerRun(100, func() { c.Add(time.Millisecond, 4) }); n != 0 {
		t.Error(n)
	}
}

func BenchmarkAdd(b *testing.B) {
	var c Counter
	for b.Loop() {
		c.Add(12*time.Microsecond, 1)
	}
}
