package report

import (
	"math/rand/v2"
	"time"
)

// maxPause is the longest pause between two attempts.
const maxPause = 15 * time.Second

// backoff is the pause before the next attempt: doubled from first up to maxPause, less a random quarter.
type backoff struct {
	first time.Duration
	tries int
}

// next counts an attempt and returns the pause after it.
func (b *backoff) next() time.Duration {
	pause := min(b.first<<min(b.tries, 16), maxPause)
	b.tries++
	return pause - rand.N(pause/4)
}

func (b *backoff) reset() { b.tries = 0 }
