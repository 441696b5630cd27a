package apidoc

import (
	"net/http"

	"gslb.internal/shared/api"
)

// changes are the errors of a change of one object.
var changes = []int{http.StatusPreconditionFailed, noStore}

// conditionsOf are the headers of a request that may depend on what the object is; creates says that it may make it.
func conditionsOf(creates bool) []parameter {
	list := []parameter{{
		name: "If-Match", description: "make the change only if the object has this ETag, or is there at all (*)",
		schema: object{"type": "string"}, example: `"jFhYQ3nN2kqB0aXr5Zt1"`,
	}}
	if creates {
		list = append(list, parameter{name: "If-None-Match", description: "*: only if there is no such object", schema: object{"type": "string"}, example: "*"})
	}
	return list
}

func regionOperations() []operation {
	one := api.Region{
		ID: "eu-west", Name: "eu-west", Code: "EUW", Description: "Frankfurt and Paris", Latitude: of(50.11), Longitude: of(8.68), Continent: "EU",
		Countries: []string{"DE", "FR"}, Enabled: true, Priority: 10, ServerCount: 4, HealthyServers: 3, Source: api.FromAPI,
	}
	change := api.RegionChange{
		Name: of("eu-west"), Code: of("EUW"), Latitude: of(50.11), Longitude: of(8.68), Continent: of("EU"), Countries: &[]string{"DE", "FR"}, Priority: of(10),
	}
	region := v1 + "/regions/{id}"
	return []operation{
		{method: get, path: v1 + "/regions", summary: "Places with servers in them", status: 200,
			query: paged(word("enabled", "only those that are, or are not", []string{"true", "false"}),
				word("continent", "only of this continent", []string{"AF", "AN", "AS", "EU", "NA", "OC", "SA"})),
			answer: api.RegionList{Regions: []api.Region{one}, Total: 1, GeneratedAt: at()}},
		{method: post, path: v1 + "/regions", summary: "Create a region", description: "400 if it exists already. A name is needed.",
			body: change, status: 201, answer: one, errors: []int{noStore}},
		{method: get, path: region, summary: "One region", status: 200, answer: one},
		{method: put, path: region, header: conditionsOf(false), summary: "Set a region", description: "Only one that the API has created. What is left out takes its default.",
			body: change, status: 200, answer: one, errors: changes},
		{method: patch, path: region, header: conditionsOf(false), summary: "Change a region", description: "What is left out stays.", body: change, status: 200, answer: one, errors: changes},
		{method: del, path: region, header: conditionsOf(false), summary: "Delete a region", description: "Only one that the API has created, and that no server, domain or mapping is in.",
			status: 204, errors: append([]int{conflict}, changes...)},
	}
}

func sectionOperations() []operation {
	state := api.ConfigState{Overlay: []string{"default_ttl"}, RestartRequired: []string{}}
	waiting := api.ConfigState{Overlay: []string{"validation_enabled"}, RestartRequired: []string{"overwatch.validation.enabled"}}
	preferences := api.PreferencesAnswer{Preferences: api.DefaultPreferences()}
	liked := api.PreferencesChange{Theme: of("dark"), Timezone: of("Europe/Berlin")}
	list := []operation{
		{method: get, path: v1 + "/preferences", summary: "How people want the node shown", status: 200, answer: preferences},
		{method: put, path: v1 + "/preferences", header: conditionsOf(false), summary: "Set preferences", description: "What is left out takes its default.", body: liked, status: 200, answer: preferences, errors: changes},
		{method: patch, path: v1 + "/preferences", header: conditionsOf(false), summary: "Change preferences", description: "What is left out stays.", body: liked, status: 200, answer: preferences, errors: changes},
		{method: get, path: v1 + "/config/system", summary: "What the node is and runs from", status: 200, answer: api.SystemConfigAnswer{Config: api.SystemConfig{
			Version: "1.2.0", BuildInfo: api.BuildInfo{GoVersion: "go1.26.0", GitCommit: "0123456", BuildDate: "2026-01-01T00:00:00Z", Platform: "linux/amd64"}, Mode: "overwatch",
			NodeID: "overwatch-1", NodeName: "overwatch-1", Region: "eu-west", Features: []string{"api", "dns", "dnssec"}, StartTime: at(), ConfigPath: "/etc/gslb/gslb.yaml", DataDir: "/var/lib/gslb",
		}}},
		{method: post, path: v1 + "/config/validate", summary: "Check the text of a configuration", description: "By itself: it includes nothing, leaves no secret in a file, and takes nothing from the environment.",
			yaml: true, body: "mode: overwatch\n", status: 200, answer: api.ConfigValidation{Errors: []api.ConfigError{{Key: "overwatch.gossip.encryption_key", Message: "is missing"}}}},
	}
	list = append(list, section("/config/dns", "How DNS is answered", api.DNSConfigChange{DefaultTTL: of(60)}, api.DNSConfigAnswer{Config: api.DNSConfig{
		ListenAddress: []string{":53"}, EnableTCP: true, EnableUDP: true, MaxUDPSize: 1232, DefaultTTL: 60, MaxTTL: 1<<31 - 1, NegativeTTL: 60,
		RateLimitEnabled: true, RateLimitQPS: 1000, Zones: []string{"gslb.example.com"},
	}, ConfigState: state})...)
	list = append(list, section("/config/health-check", "How the node checks backends", api.HealthCheckConfigChange{DefaultIntervalSeconds: of(10.0)}, api.HealthCheckConfigAnswer{Config: api.HealthCheckConfig{
		ValidationEnabled: true, DefaultIntervalSeconds: 10, DefaultTimeoutSeconds: 5, HealthyThreshold: 2, UnhealthyThreshold: 3, MaxConcurrentChecks: 1024, DefaultProtocol: "tcp", HTTPFollowRedirects: true,
	}, ConfigState: waiting})...)
	list = append(list, section("/config/logging", "What is logged", api.LoggingConfigChange{Level: of("debug")},
		api.LoggingConfigAnswer{Config: api.LoggingConfig{Level: "debug", Format: "json"}, ConfigState: api.ConfigState{Overlay: []string{"level"}, RestartRequired: []string{}}})...)
	return append(list, section("/gossip/config", "How the node gossips, without the key", api.GossipConfigChange{Seeds: &[]string{"overwatch-2.example.com:7946"}}, api.GossipSettings{Config: api.GossipConfig{
		Enabled: true, BindAddress: "0.0.0.0", BindPort: 7946, EncryptionEnabled: true, GossipIntervalMS: 200, ProbeIntervalMS: 1000, ProbeTimeoutMS: 500, Seeds: []string{"overwatch-2.example.com:7946"},
	}, ConfigState: api.ConfigState{Overlay: []string{"seeds"}, RestartRequired: []string{"overwatch.gossip"}}})...)
}

// section is the operations of one section of the configuration.
func section(path, summary string, change, answer any) []operation {
	path = v1 + path
	return []operation{
		{method: get, path: path, summary: summary, status: 200, answer: answer},
		{method: put, path: path, header: conditionsOf(false), summary: "Set: " + summary, description: "It lies over the file, also after a restart. What is left out is the file's again.", body: change, status: 200, answer: answer, errors: changes},
		{method: patch, path: path, header: conditionsOf(false), summary: "Change: " + summary, description: "It lies over the file, also after a restart. What is left out stays.", body: change, status: 200, answer: answer, errors: changes},
		{method: del, path: path, header: conditionsOf(false), summary: "Let the file count again: " + summary, status: 204, errors: changes},
	}
}
