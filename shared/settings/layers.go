package settings

import (
	"reflect"
	"strings"
)

// envPrefix begins the names of the environment variables for secrets.
const envPrefix = "GSLB"

// Variable returns the name of the environment variable of a secret key. For agent.identity.service_token it is
// GSLB_AGENT_IDENTITY_SERVICE_TOKEN.
func Variable(key string) string {
	return envPrefix + "_" + strings.ToUpper(strings.ReplaceAll(key, ".", "_"))
}

// apply stores the scalars, which have their paths as keys, in the struct.
func apply(scalars map[string]string, report *Report, leaves []leaf) {
	for _, leaf := range leaves {
		text, given := scalars[leaf.path]
		if !given || leaf.field.shape != scalarShape || leaf.value.Kind() == reflect.Map {
			continue
		}
		if remedy := leaf.field.set(leaf.value, text); remedy != "" {
			report.Add(leaf.path, text, remedy)
		}
	}
}
