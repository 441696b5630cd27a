// Package tokenbucket bounds the rate of events. A bucket receives tokens at a constant rate up to a burst, and each
// event costs tokens. Callers pass all times. The types have no lock: their owner guards them.
package tokenbucket

import "time"

// Limit is the rate of an event and its largest burst.
type Limit struct {
	Interval time.Duration // the time in which a bucket receives one token; above zero
	Burst    int           // the number of tokens in a full bucket; above zero
}

// PerSecond returns the limit with a number of tokens for each second.
func PerSecond(tokens float64, burst int) Limit {
	return Limit{Interval: time.Duration(float64(time.Second) / tokens), Burst: burst}
}

// Bucket is a token bucket. New returns a full one.
type Bucket struct {
	limit  Limit
	fullAt time.Time // time at which the bucket is full without further events
}

// New returns a full bucket.
func New(limit Limit) Bucket { return Bucket{limit: limit} }

// HasToken reports whether the bucket has at least one token.
func (b *Bucket) HasToken(now time.Time) bool {
	return b.missing(now)+b.limit.Interval <= b.limit.capacity()
}

// Take removes a token. It returns false for a bucket without a token.
func (b *Bucket) Take(now time.Time) bool {
	if !b.HasToken(now) {
		return false
	}
	b.Spend(now, 1)
	return true
}

// Spend takes n tokens. If the bucket has fewer tokens, it owes the rest.
func (b *Bucket) Spend(now time.Time, n int) {
	b.fullAt = now.Add(b.missing(now) + time.Duration(n)*b.limit.Interval)
}

// Debt returns the time until the bucket owes no tokens.
func (b *Bucket) Debt(now time.Time) time.Duration {
	return max(0, b.missing(now)-b.limit.capacity())
}

// isFull reports whether the bucket has all of its tokens, as a new bucket has.
func (b *Bucket) isFull(now time.Time) bool { return b.missing(now) == 0 }

// missing returns the time until the bucket is full.
func (b *Bucket) missing(now time.Time) time.Duration { return max(0, b.fullAt.Sub(now)) }

// capacity returns the time in which an empty bucket becomes full.
func (l Limit) capacity() time.Duration { return time.Duration(l.Burst) * l.Interval }
