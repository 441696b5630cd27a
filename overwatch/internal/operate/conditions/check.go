package conditions

import (
	"fmt"

	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/shared/api"
	"gslb.internal/shared/check"
)

// OwnCheck describes the verdict of this node's own checks, with the last error.
func OwnCheck(b *registry.Backend) string {
	v := &b.OwnCheck
	said := "nothing yet"
	switch {
	case v.State == check.StateHealthy && v.Failures > 0:
		said = fmt.Sprintf("failing (%d of %d)", v.Failures, b.FailureThreshold())
	case v.State == check.StateHealthy && v.LastError != "":
		said = "healthy, the last check could not be made"
	case v.State == check.StateHealthy:
		said = string(api.EffectiveHealthy)
	case v.State == check.StateUnhealthy && v.Successes > 0:
		said = fmt.Sprintf("recovering (%d of %d)", v.Successes, b.SuccessThreshold())
	case v.State == check.StateUnhealthy:
		said = string(api.EffectiveUnhealthy)
	}
	if v.IsIgnored {
		said += ", set aside"
	}
	if v.LastError != "" {
		said += ": " + v.LastError
	}
	return said
}
