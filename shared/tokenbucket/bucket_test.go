package tokenbucket_test

import (
	"testing"
	"time"

	"gslb.internal/shared/tokenbucket"
)

func taken(b *tokenbucket.Bucket, now time.Time) (n int) {
	for b.Take(now) {
		n++
	}
	return n
}

func TestBucket_HasABurstAndThenItsRate(t *testing.T) {
	now := time.Now()
	b := tokenbucket.New(tokenbucket.PerSecond(10, 50))
	for _, step := range []struct {
		after time.Duration
		want  int
	}{{0, 50}, {99 * time.Millisecond, 0}, {time.Millisecond, 1}, {time.Second, 10}, {time.Hour, 50}, {-time.Hour, 0}} {
		now = now.Add(step.after)
		if n := taken(&b, now); n != step.want {
			t.Errorf("%d tokens after %s, want %d", n, step.after, step.want)
		}
	}
}

func TestBucket_OwesWhatIsSpentBeyondIt(t *testing.T) {
	now := time.Now()
	b := tokenbucket.New(tokenbucket.PerSecond(4, 8))
	b.Spend(now, 8)
	if b.Debt(now) != 0 || b.HasToken(now) {
		t.Errorf("an empty bucket owes %s, has a token: %v", b.Debt(now), b.HasToken(now))
	}
	b.Spend(now, 2)
	if b.Debt(now) != time.Second/2 || b.Take(now.Add(time.Second/2)) || !b.Take(now.Add(time.Second*3/4)) {
		t.Errorf("two tokens of debt at four a second last for %s", b.Debt(now))
	}
}

func TestKeyed_ForgetsFullBucketsAloneAndRejectsOthers(t *testing.T) {
	now, limit := time.Now(), tokenbucket.PerSecond(1, 2)
	k := tokenbucket.NewKeyed[int](3)
	for key := range 3 {
		k.Bucket(key, limit, now).Spend(now, key) // key 0 stays full
	}
	if k.Bucket(3, limit, now) == nil || k.Len() != 3 {
		t.Error("a full bucket was kept although there is another key")
	}
	k.Bucket(3, limit, now).Spend(now, 2)
	if k.Bucket(4, limit, now) != nil || k.Len() != 3 {
		t.Error("there are more buckets than allowed")
	}
	if n := taken(k.Bucket(2, limit, now), now); n != 0 {
		t.Errorf("%d tokens of an empty bucket", n)
	}
	if n := taken(k.Bucket(2, tokenbucket.PerSecond(1, 5), now), now); n != 3 {
		t.Errorf("%d more tokens of a larger bucket, want 3", n)
	}
	if k.Bucket(4, limit, now.Add(time.Minute)) == nil || k.Len() != 1 {
		t.Errorf("%d buckets, want that of the new key: all others are full", k.Len())
	}
}
