package harness

import "time"

// Timing has the intervals and thresholds of a cluster. They determine the documented maximum times of the programs.
type Timing struct {
	CheckInterval    time.Duration // of the agents' checks, and of the nodes' checks of static backends
	CheckTimeout     time.Duration
	FailureThreshold int
	SuccessThreshold int

	Heartbeat       time.Duration
	MissedThreshold int

	ValidationInterval time.Duration // of the nodes' own checks of reported backends
	ValidationTimeout  time.Duration

	StaleThreshold time.Duration
	RemoveAfter    time.Duration
}

// Fast makes a failover take about a second. Real deployments use the reference values of the specification, which are
// about ten times as long. All other settings are equal.
func Fast() Timing {
	return Timing{
		CheckInterval:      300 * time.Millisecond,
		CheckTimeout:       300 * time.Millisecond,
		FailureThreshold:   2,
		SuccessThreshold:   2,
		Heartbeat:          time.Second,
		MissedThreshold:    3,
		ValidationInterval: 500 * time.Millisecond,
		ValidationTimeout:  500 * time.Millisecond,
		StaleThreshold:     3 * time.Second,
		RemoveAfter:        time.Minute,
	}
}

// slack is the time that the documented limits allow beyond the checks themselves.
const slack = time.Second

// Detection bounds the time from the end of a backend that an agent watches to the last answer that contains the
// backend (invariant I3).
func (t Timing) Detection() time.Duration {
	return time.Duration(t.FailureThreshold)*t.CheckInterval + slack
}

// OwnDetection is Detection for a backend that only the nodes watch.
func (t Timing) OwnDetection() time.Duration {
	return time.Duration(t.FailureThreshold)*t.ownInterval() + t.ValidationTimeout + slack
}

// Recovery bounds the time from the first request that a restarted backend answers to the first DNS answer that
// contains the backend: both the agent and the nodes must consider it healthy.
func (t Timing) Recovery() time.Duration {
	return time.Duration(t.SuccessThreshold)*t.ownInterval() + t.ValidationTimeout + slack
}

func (t Timing) ownInterval() time.Duration {
	return max(t.CheckInterval, t.ValidationInterval)
}

// Check returns the health check that Timing describes, for a backend that answers on /health.
func (t Timing) Check() HealthCheck {
	return HealthCheck{
		Type: "http", Path: "/health", Interval: t.CheckInterval, Timeout: t.CheckTimeout,
		FailureThreshold: t.FailureThreshold, SuccessThreshold: t.SuccessThreshold,
	}
}
