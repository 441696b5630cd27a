package apidoc

import "gslb.internal/shared/api"

// bounds lists the limits of fields of requests.
func bounds() map[string]bound {
	port, weight := bound{1, 65535}, bound{api.MinWeight, api.MaxWeight}
	return map[string]bound{
		"ServerCreate.port": port, "DomainBackendCreate.port": port,
		"ServerCreate.weight": weight, "ServerPatch.weight": weight, "DomainBackendCreate.weight": weight,
		"OverrideRequest.reason": {1, api.MaxReason}, "RevokeRequest.reason": {1, api.MaxReason},
		"OverrideRequest.source": {0, api.MaxSource},
	}
}
