package tokenbucket

import "time"

// Keyed has a bucket for each key. It stores at most a given number of buckets.
type Keyed[K comparable] struct {
	buckets map[K]*Bucket
	most    int
}

// NewKeyed returns a Keyed with at most a number of buckets.
func NewKeyed[K comparable](most int) *Keyed[K] {
	return &Keyed[K]{buckets: make(map[K]*Bucket), most: most}
}

// Bucket returns the bucket of a key, with a limit that may differ from the previous limit of the key. It returns nil
// if there are as many other buckets as possible and none of them is full.
func (k *Keyed[K]) Bucket(key K, limit Limit, now time.Time) *Bucket {
	if b := k.buckets[key]; b != nil {
		b.limit = limit
		return b
	}
	if len(k.buckets) >= k.most {
		for other, b := range k.buckets {
			if b.isFull(now) { // as the bucket of an unknown key
				delete(k.buckets, other)
			}
		}
	}
	if len(k.buckets) >= k.most {
		return nil
	}
	b := New(limit)
	k.buckets[key] = &b
	return &b
}

// Len returns the number of stored buckets.
func (k *Keyed[K]) Len() int { return len(k.buckets) }
