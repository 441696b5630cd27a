package httpapi

import (
	"net/http"
	"runtime"
	"slices"

	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/shared/api"
)

// getSection answers GET on a section of the configuration.
func getSection(section string) handler {
	return func(s *Server, c *call) (answer, error) {
		view := s.sectionView(section)
		return tagged(c, http.StatusOK, view, view.Config), nil
	}
}

// sectionAnswer has the fields that the answers about all sections share.
type sectionAnswer struct {
	Config any `json:"config"`
	api.ConfigState
}

func (s *Server) sectionView(section string) sectionAnswer {
	set, over := s.o.Definitions.Defined()
	restart := []string{}
	for _, key := range s.o.RestartRequired() {
		if definitions.Concerns(section, key) {
			restart = append(restart, key)
		}
	}
	state := api.ConfigState{Overlay: definitions.Fields(set.Settings[section]), RestartRequired: restart}
	return sectionAnswer{Config: definitions.View(section, over), ConfigState: state}
}

// putSection answers PUT and PATCH on a section of the configuration. A setting that the body omits takes the value of
// the file with PUT, and keeps its value with PATCH.
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

// deleteSection answers DELETE on a section of the configuration: the settings of the file count again.
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
		Features:  s.features(cfg),
		StartTime: stamp(s.o.StartedAt), ConfigPath: s.o.ConfigPath, DataDir: cfg.DataDir,
	}}), nil
}

// features names the features that are switched on.
func (s *Server) features(cfg *config.Config) []string {
	list := []string{"dns", "gossip", "api"}
	add := func(on bool, name string) {
		if on {
			list = append(list, name)
		}
	}
	g := cfg.Overwatch.Geolocation
	add(s.o.SigningKeys != nil, "dnssec")
	add(cfg.Overwatch.Validation.Enabled, "validation")
	add(g.ECSEnabled, "ecs")
	add(g.DatabasePath != "", "geolocation-database")
	add(cfg.Metrics.Enabled, "metrics")
	add(cfg.API.EnableCORS, "cors")
	slices.Sort(list)
	return list
}
