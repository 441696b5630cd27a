package explain

import (
	"fmt"
	"net/netip"
	"strings"
	"time"

	"gslb.internal/overwatch/internal/policy"
)

// why is a sentence about a candidate that does not answer: the policy's reason, and what is known of this one.
func (e *Explanation) why(c *policy.Candidate, reason policy.Reason) string {
	switch reason {
	case policy.MayNotServe, policy.TakenOut, policy.NotLastResort:
		if state := State(c); state != "" {
			return fmt.Sprintf("%s (%s)", state, reason)
		}
	case policy.OtherRegion:
		return fmt.Sprintf("%s: it is in %s, and %s answers", reason, named(c.Region), named(e.Decision.Region))
	case policy.Farther:
		return fmt.Sprintf("%s: it is in %s, and %s is nearer", reason, named(c.Region), named(e.Decision.Region))
	case policy.FewSamples:
		return fmt.Sprintf("%s: %d times", reason, c.Latency.Samples)
	case policy.TooSlow, policy.Slower:
		return fmt.Sprintf("%s: it takes %s", reason, Milliseconds(c.Latency.Smoothed))
	}
	return string(reason)
}

func named(region string) string {
	if region == "" {
		return "no region"
	}
	return region
}

// State is the effective status of a candidate and where it comes from, empty where nothing is known.
func State(c *policy.Candidate) string {
	f := c.Facts
	if f == nil {
		return ""
	}
	var b strings.Builder
	b.WriteString(f.Status)
	for _, part := range []string{f.Reason, f.Problem, Override(f.Order)} {
		if part != "" {
			b.WriteString(": " + part)
		}
	}
	if !f.DrainEndsAt.IsZero() {
		b.WriteString("; draining until " + moment(f.DrainEndsAt))
	}
	if f.Check != "" {
		b.WriteString("; " + f.Check)
	}
	return b.String()
}

// Override says by whom an override is, until when, and why.
func Override(o *policy.Order) string {
	if o == nil {
		return ""
	}
	word, end := "unhealthy", "until it is taken back"
	if o.Healthy {
		word = "healthy"
	}
	if !o.Until.IsZero() {
		end = "until " + moment(o.Until)
	}
	text := word + " by " + o.By + " " + end
	if o.Reason != "" {
		text += ": " + o.Reason
	}
	return text
}

func moment(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// Milliseconds writes a latency with a tenth of a millisecond.
func Milliseconds(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000)
}

// Endpoint is a backend's address and port.
func Endpoint(c *policy.Candidate) string { return netip.AddrPortFrom(c.Address, c.Port).String() }
