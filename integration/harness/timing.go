package harness

import "time"

// Timing is every interval and threshold of a cluster, so that what is measured can be held against it.
type Timing struct {
	CheckInterval    time.Duration // of the agents' checks, and of the nodes' checks of static backends
	CheckTimeout     time.Duration
	FailureThreshold int
	SuccessThreshold int

	Heartbeat       time.Duration
	MissedThreshold int

	ValidationInterval time.Duration // of the nodes' own checks of what agents report
	ValidationTimeout  time.Duration

	StaleThreshold time.Duration
	RemoveAfter    time.Duration
}

// Fast makes a failover take about a second. Real deployments use the specification's reference values, some ten
// times as long; nothing else differs.
func Fast() Timing {
	return Timing{
		CheckInterval:      300 * time.Millisecond,
		CheckTimeout:       200 * time.Millisecond,
		FailureThreshold:   2,
		SuccessThreshold:   2,
		Heartbeat:          time.Second,
		MissedThreshold:    3,
		ValidationInterval: time.Second,
		ValidationTimeout:  500 * time.Millisecond,
		StaleThreshold:     3 * time.Second,
		RemoveAfter:        time.Minute,
	}
}

// slack is what the promise allows on top of the checks themselves.
const slack = time.Second

// Detection bounds the time from a backend's end to the last answer that has it (invariant I3).
func (t Timing) Detection() time.Duration {
	return time.Duration(t.FailureThreshold)*t.CheckInterval + slack
}

// Recovery bounds the time from a backend's first served request to the first answer that has it again.
func (t Timing) Recovery() time.Duration {
	return max(time.Duration(t.SuccessThreshold)*t.CheckInterval, t.ValidationInterval) + slack
}

// Check is the health check that Timing describes, for a backend that answers on /health.
func (t Timing) Check() HealthCheck {
	return HealthCheck{
		Type: "http", Path: "/health", Interval: t.CheckInterval, Timeout: t.CheckTimeout,
		FailureThreshold: t.FailureThreshold, SuccessThreshold: t.SuccessThreshold,
	}
}
