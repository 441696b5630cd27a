package httpapi

import (
	"encoding/json"
	"net/http"

	"gslb.internal/overwatch/internal/control/objects"
	"gslb.internal/shared/api"
)

// getPreferences answers GET /preferences.
func (s *Server) getPreferences(c *call) (answer, error) {
	set, _ := s.o.Definitions.Defined()
	p, err := objects.Preferences(set)
	if err != nil {
		return answer{}, err
	}
	return tagged(c, http.StatusOK, api.PreferencesAnswer{Preferences: p}, p), nil
}

// putPreferences answers PUT and PATCH /preferences. For an omitted field, PUT sets the default and PATCH keeps the
// value.
func (s *Server) putPreferences(c *call) (answer, error) {
	after, err := s.op.ChangePreferences(c.request(), s.o.NodeID, func(p *api.Preferences) error {
		var given struct {
			CustomSettings json.RawMessage `json:"custom_settings"`
		}
		if json.Unmarshal(c.body, &given) == nil && given.CustomSettings != nil {
			p.CustomSettings = nil // replaced, not merged
		}
		return c.decode(p)
	})
	if err != nil {
		return answer{}, err
	}
	return tagged(c, http.StatusOK, api.PreferencesAnswer{Preferences: after}, after), nil
}
