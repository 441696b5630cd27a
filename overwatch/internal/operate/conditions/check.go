package conditions

import (
	"fmt"

	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/shared/api"
	"gslb.internal/shared/check"
)

// OwnCheck describes the result of this node's own checks, with the last error.
func OwnCheck(b *registry.Backend) string {
	v := &b.OwnCheck
	text := "no result yet"
	switch {
	case v.State == check.StateUnknown && v.Failures > 0:
		text = fmt.Sprintf("failing (%d of %d)", v.Failures, b.FailureThreshold())
	case v.State == check.StateUnknown && v.LastError != "":
		text = "no result yet, the last check could not run"
	case v.State == check.StateHealthy && v.Failures > 0:
		text = fmt.Sprintf("failing (%d of %d)", v.Failures, b.FailureThreshold())
	case v.State == check.StateHealthy && v.LastError != "":
		text = "healthy, the last check could not run"
	case v.State == check.StateHealthy:
		text = string(api.EffectiveHealthy)
	case v.State == check.StateUnhealthy && v.Successes > 0:
		text = fmt.Sprintf("recovering (%d of %d)", v.Successes, b.SuccessThreshold())
	case v.State == check.StateUnhealthy:
		text = string(api.EffectiveUnhealthy)
	}
	if v.IsIgnored {
		text += ", ignored (self-isolation)"
	}
	if v.LastError != "" {
		text += ": " + v.LastError
	}
	return text
}
