package apidoc

import "gslb.internal/shared/api"

// bounds lists the limits of fields of requests.
func bounds() map[string]bound {
	return map[string]bound{
		"OverrideRequest.reason": {1, api.MaxReason}, "RevokeRequest.reason": {1, api.MaxReason},
		"OverrideRequest.source": {0, api.MaxSource},
	}
}
