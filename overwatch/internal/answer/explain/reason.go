package explain

import (
	"cmp"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"gslb.internal/overwatch/internal/policy"
)

// exclusion returns a sentence about a candidate that does not answer: the policy's reason, with the candidate's
// data.
func (e *Explanation) exclusion(c *policy.Candidate, reason policy.Reason) string {
	switch reason {
	case policy.MayNotServe, policy.TakenOut, policy.NotLastHealthy:
		if state := State(c); state != "" {
			return fmt.Sprintf("%s (%s)", state, reason)
		}
	case policy.OtherRegion:
		return fmt.Sprintf("%s: it is in %s, and %s answers", reason, named(c.Region), named(e.Decision.Region))
	case policy.Farther:
		return fmt.Sprintf("%s: it is in %s, and %s is nearer", reason, named(c.Region), named(e.Decision.Region))
	case policy.AwaitsFailback:
		return fmt.Sprintf("%s: it is in %s, and %s answers until then", reason, named(c.Region), named(e.Decision.Region))
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

// State returns the effective status of a candidate and its source; empty if unknown.
func State(c *policy.Candidate) string {
	f := c.Info
	if f == nil {
		return ""
	}
	var b strings.Builder
	b.WriteString(f.Status)
	for _, part := range []string{f.Reason, f.Problem, Override(f.Override)} {
		if part != "" {
			b.WriteString(": " + part)
		}
	}
	if !f.DrainEndsAt.IsZero() {
		b.WriteString("; draining until " + moment(f.DrainEndsAt))
	}
	if f.Votes != "" {
		b.WriteString("; " + f.Votes)
	}
	if f.Check != "" {
		b.WriteString("; " + f.Check)
	}
	return b.String()
}

// Override describes an override: value, author, expiry and reason.
func Override(o *policy.AdminState) string {
	if o == nil {
		return ""
	}
	if o.Healthy {
		return "healthy, " + author(o)
	}
	return "unhealthy, " + author(o)
}

// author describes the author, expiry and reason of an admin state.
func author(o *policy.AdminState) string {
	expiry := "without expiry"
	if !o.Until.IsZero() {
		expiry = "expires " + moment(o.Until)
	}
	text := "set by " + cmp.Or(o.By, "an operator") + ", " + expiry
	if o.Reason != "" {
		text += ": " + o.Reason
	}
	return text
}

func moment(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// Milliseconds formats a latency with a tenth of a millisecond.
func Milliseconds(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000)
}

// Endpoint returns a backend's address and port.
func Endpoint(c *policy.Candidate) string {
	at := netip.AddrPortFrom(c.Address, c.Port).String()
	if c.Target != "" {
		at += " (" + c.Target + ")"
	}
	return at
}
