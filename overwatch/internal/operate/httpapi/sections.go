package httpapi

import (
	"encoding/json"
	"net/http"
	"runtime"

	"gslb.internal/overwatch/internal/control/impact"
	"gslb.internal/overwatch/internal/control/objects"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/shared/api"
)

func sectionOperations() []Operation {
	state := api.ConfigState{Overlay: []string{"default_ttl"}, RestartRequired: []string{}}
	checks := api.ConfigState{Overlay: []string{"default_interval_seconds"}, RestartRequired: []string{}}
	preferences := api.PreferencesAnswer{Preferences: api.DefaultPreferences()}
	liked := api.PreferencesChange{Theme: new("dark"), Timezone: new("Europe/Berlin")}
	list := []Operation{
		{Method: get, Path: v1 + "/preferences", handle: (*Server).getPreferences,
			Summary: "Get the preferences of the console",
			Status:  200, Answer: preferences},
		{Method: put, Path: v1 + "/preferences", Changes: KindNode,
			handle: (*Server).putPreferences, Header: conditionsOf(false),
			Summary: "Set preferences", Description: "An omitted field takes its default.", Body: liked, Status: 200,
			Answer: preferences, Errors: changeErrors},
		{Method: patch, Path: v1 + "/preferences", Changes: KindNode,
			handle: (*Server).putPreferences, Header: conditionsOf(false),
			Summary: "Change preferences", Description: "An omitted field does not change.", Body: liked, Status: 200,
			Answer: preferences,
			Errors: changeErrors},
		{Method: get, Path: v1 + "/config/system", handle: (*Server).getSystemConfig,
			Summary: "Get the version, identity and paths of the node", Status: 200,
			Answer: api.SystemConfigAnswer{Config: api.SystemConfig{
				Version: "1.2.0", BuildInfo: api.BuildInfo{GoVersion: "go1.26.0", GitCommit: "0123456",
					BuildDate: "2026-01-01T00:00:00Z", Platform: "linux/amd64"}, Mode: "overwatch",
				NodeID: "overwatch-1", NodeName: "overwatch-1", Region: "eu-west", Features: []string{"api", "dns",
					"dnssec"},
				StartTime: exampleTime(), ConfigPath: "/etc/gslb/gslb.yaml", DataDir: "/var/lib/gslb",
			}}},
		{Method: post, Path: v1 + "/config/validate", handle: (*Server).postConfigValidate, Role: api.RoleOperate,
			Summary: "Validate a configuration",
			Description: "The text must be complete: include files, secret files and environment variables are not read. " +
				"The node checks one text at a time. The status is 429 while the check of another text takes long.",
			YAML: true, Body: "mode: overwatch\n", Status: 200, Errors: []int{http.StatusTooManyRequests},
			Answer: api.ConfigValidation{Errors: []api.ConfigError{
				{Key: "overwatch.gossip.encryption_key", Message: "is missing"}}}},
	}
	list = append(list, planConfigOperation())
	list = append(list, section("/config/dns", definitions.DNS, "DNS settings",
		api.DNSConfigChange{DefaultTTL: new(60)}, api.DNSConfigAnswer{Config: api.DNSConfig{
			ListenAddress: []string{":53"}, EnableTCP: true, EnableUDP: true, MaxUDPSize: 1232, DefaultTTL: 60,
			MaxTTL:           1<<31 - 1,
			NegativeTTL:      60,
			RateLimitEnabled: true, RateLimitQPS: 1000, Zones: []string{"gslb.example.com"},
		}, ConfigState: state})...)
	list = append(list, section("/config/health-check", definitions.HealthCheck, "health check settings",
		api.HealthCheckConfigChange{DefaultIntervalSeconds: new(10.0)},
		api.HealthCheckConfigAnswer{Config: api.HealthCheckConfig{
			ValidationEnabled: true, DefaultIntervalSeconds: 10, DefaultTimeoutSeconds: 5, HealthyThreshold: 2,
			UnhealthyThreshold: 3, MaxConcurrentChecks: 1024, DefaultProtocol: "tcp", HTTPFollowRedirects: true,
		}, ConfigState: checks})...)
	list = append(list, section("/config/logging", definitions.Logging, "log settings",
		api.LoggingConfigChange{Level: new("debug")},
		api.LoggingConfigAnswer{Config: api.LoggingConfig{Level: "debug", Format: "json"},
			ConfigState: api.ConfigState{Overlay: []string{"level"}, RestartRequired: []string{}}})...)
	return append(list, section("/gossip/config", definitions.Gossip, "gossip settings without the key",
		api.GossipConfigChange{Seeds: &[]string{"overwatch-2.example.com:7946"}},
		api.GossipSettings{Config: api.GossipConfig{
			Enabled: true, BindAddress: "0.0.0.0", BindPort: 7946, EncryptionEnabled: true, GossipIntervalMS: 200,
			ProbeIntervalMS: 1000, ProbeTimeoutMS: 500, Seeds: []string{"overwatch-2.example.com:7946"},
		}, ConfigState: api.ConfigState{Overlay: []string{"seeds"}, RestartRequired: []string{"overwatch.gossip"}}})...)
}

// overlayOperation returns the operation that deletes the overlay of an object of the configuration.
func overlayOperation(path, kind, parameter string) Operation {
	return Operation{Method: del, Path: path + "/overlay", Changes: KindSetting,
		handle:  dropOverlay(kind, parameter),
		Summary: "Delete the overlay of a " + kind,
		Description: "The values of the configuration file take effect. An overlay without its " + kind + " in the file is " +
			"also deleted. The status is 404 if the " + kind + " has no overlay.",
		Status: 204, Errors: []int{noStore}}
}

func configOperations() []Operation {
	return []Operation{
		{Method: get, Path: v1 + "/config/overlays", handle: (*Server).listOverlays, Query: paged(),
			Summary: "List overlays",
			Description: "An overlay has the API values of a domain, region or server of the configuration file. The list " +
				"contains " +
				"overlays without effect: the file lacks the object, or the values do not fit the file.",
			Status: 200, Answer: api.OverlayList{Overlays: []api.OverlaidObject{{Kind: definitions.OverDomain,
				ID: "app.example.com", Overlay: api.Overlay{Fields: map[string]json.RawMessage{"ttl": []byte("5")},
					Configured: map[string]json.RawMessage{"ttl": []byte("30")}, By: "alice", UpdatedAt: exampleTime(),
					InForce: true}}},
				Total: 1, GeneratedAt: exampleTime()}},
		{Method: post, Path: v1 + "/config/reload", Changes: KindNode,
			handle: (*Server).postReload, Summary: "Reload the configuration",
			Description: "After an error, the previous configuration stays active.", Status: 200,
			Answer: api.Reload{Reloaded: true, Changes: []string{"domains"}, RestartRequired: []string{}}},
	}
}

// section returns the operations of a section of settings. path is relative to /api/v1. Package definitions stores the
// section with the key name. noun denotes the settings in summaries.
func section(path, name, noun string, change, answered any) []Operation {
	path = v1 + path
	kind := KindNode
	if definitions.IsShared(name) {
		kind = KindSetting
	}
	return []Operation{
		{Method: get, Path: path, handle: getSection(name), Summary: "Get the " + noun, Status: 200,
			Answer: answered},
		{Method: put, Path: path, Changes: kind,
			handle: putSection(name), Header: conditionsOf(false), Summary: "Replace the " + noun,
			Description: "The values are an overlay over the configuration file, and survive a restart. An omitted field " +
				"takes the " +
				"value of the file.",
			Body: change, Status: 200, Answer: answered, Errors: changeErrors},
		{Method: patch, Path: path, Changes: kind,
			handle: putSection(name), Header: conditionsOf(false), Summary: "Change the " + noun,
			Description: "The values are an overlay over the configuration file, and survive a restart. An omitted field " +
				"keeps its " +
				"present value.",
			Body: change, Status: 200, Answer: answered, Errors: changeErrors},
		{Method: del, Path: path, Changes: kind, handle: deleteSection(name), Header: conditionsOf(false),
			Summary: "Delete the overlay of the " + noun, Status: 204, Errors: changeErrors},
	}
}

// planConfigOperation returns the operation that compares a configuration file with the active file.
func planConfigOperation() Operation {
	return Operation{Method: post, Path: v1 + "/config/plan", handle: (*Server).postConfigPlan, Role: api.RoleOperate,
		Summary: "Plan a new configuration file",
		Description: "Returns the keys that differ from the active file, and the effect on answers as /document/plan " +
			"does. The " +
			"text must be complete, as for /config/validate. Nothing changes.",
		YAML: true, Body: "mode: overwatch\n", Status: 200, Errors: []int{http.StatusTooManyRequests},
		Answer: api.Plan{Changes: []api.PlanChange{{Action: api.PlanUpdate, Kind: "key", ID: "domains"}},
			Force: []string{}, RestartRequired: []string{}, Answers: impact.NoEffects(), GeneratedAt: exampleTime()}}
}

// getSection answers GET on a section of the configuration.
func getSection(section string) handler {
	return func(s *Server, c *call) (answer, error) {
		view := s.sectionView(section)
		return tagged(c, http.StatusOK, view, view.Config), nil
	}
}

// sectionAnswer contains the common fields of the answers about all sections.
type sectionAnswer struct {
	Config any `json:"config"`
	api.ConfigState
}

func (s *Server) sectionView(section string) sectionAnswer {
	set, file := s.o.Definitions.Defined()
	return sectionAnswer{Config: definitions.View(section, file),
		ConfigState: objects.SectionState(set, section, s.o.RestartRequired())}
}

// putSection answers PUT and PATCH of a section of the configuration. For an omitted setting, PUT sets the value of the
// file and PATCH keeps the value.
func putSection(section string) handler {
	return func(s *Server, c *call) (answer, error) {
		if err := s.op.ChangeSection(c.request(), section, func(settings any) error {
			return c.decode(
				settings)
		}); err != nil {
			return answer{}, err
		}
		view := s.sectionView(section)
		return tagged(c, http.StatusOK, view, view.Config), nil
	}
}

// deleteSection answers DELETE on a section of the configuration: the values of the file apply.
func deleteSection(section string) handler {
	return func(s *Server, c *call) (answer, error) {
		return noContent(), s.op.ChangeSection(c.request(), section, nil)
	}
}

// getSystemConfig answers GET /config/system.
func (s *Server) getSystemConfig(*call) (answer, error) {
	cfg, _ := s.o.Config()
	b := s.o.Build
	return ok(api.SystemConfigAnswer{Config: api.SystemConfig{
		Version: b.Version, BuildInfo: api.BuildInfo{GoVersion: b.GoVersion, GitCommit: b.GitCommit,
			BuildDate: b.BuildDate,
			Platform:  runtime.GOOS + "/" + runtime.GOARCH},
		Mode: config.Mode, NodeID: s.o.NodeID, NodeName: s.o.NodeID, Region: cfg.Overwatch.Identity.Region,
		Features:  objects.Features(cfg, s.o.SigningKeys != nil),
		StartTime: stamp(s.o.StartedAt), ConfigPath: s.o.ConfigPath, DataDir: cfg.DataDir,
	}}), nil
}
