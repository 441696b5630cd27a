package httpapi

import (
	"net/http"
	"time"

	"gslb.internal/shared/api"
)

// checkPatience is the longest time that a text waits for the one before it. Texts are checked one after the other,
// because a check takes some 150 octets of memory per octet of text.
const checkPatience = time.Second

// postConfigValidate answers POST /config/validate. The text is checked by itself, without other files and without
// the environment.
func (s *Server) postConfigValidate(c *call) (answer, error) {
	body := c.body
	if len(body) == 0 {
		return answer{}, badRequest("the body is empty: it must be the YAML text of a configuration")
	}
	patience := time.NewTimer(checkPatience)
	defer patience.Stop()
	select {
	case s.checking <- struct{}{}:
		defer func() { <-s.checking }()
	case <-patience.C:
		return answer{}, problemf(http.StatusTooManyRequests, "another configuration is being checked: try again in a second")
	case <-c.Request.Context().Done():
		return answer{}, c.Request.Context().Err()
	}
	result := api.ConfigValidation{Errors: []api.ConfigError{}}
	for _, p := range s.o.ValidateConfig(string(body)) {
		result.Errors = append(result.Errors, api.ConfigError{Line: p.Line, Key: p.Key, Value: p.Value, Message: p.Message})
	}
	result.Valid = len(result.Errors) == 0
	return ok(result), nil
}
