package httpapi

import (
	"context"
	"net/http"
	"time"

	"gslb.internal/shared/api"
)

// checkPatience is the maximum time that a text waits for the validation of another text. The node validates one text
// at a time, because validation needs about 150 octets of memory per octet of text.
const checkPatience = time.Second

// postConfigValidate answers POST /config/validate. It reads no other files and no environment variables.
func (s *Server) postConfigValidate(c *call) (answer, error) {
	body := c.body
	if len(body) == 0 {
		return answer{}, badRequest("the body is empty: it must be the YAML text of a configuration")
	}
	done, err := s.checkAlone(c.Request.Context())
	if err != nil {
		return answer{}, err
	}
	defer done()
	result := api.ConfigValidation{Errors: []api.ConfigError{}}
	for _, p := range s.o.ValidateConfig(string(body)) {
		result.Errors = append(result.Errors, api.ConfigError{Line: p.Line, Key: p.Key, Value: p.Value, Message: p.Message})
	}
	result.Valid = len(result.Errors) == 0
	return ok(result), nil
}

// checkAlone waits until no other text is in validation. Other texts wait until the caller calls done.
func (s *Server) checkAlone(ctx context.Context) (done func(), err error) {
	patience := time.NewTimer(checkPatience)
	defer patience.Stop()
	select {
	case s.checking <- struct{}{}:
		return func() { <-s.checking }, nil
	case <-patience.C:
		return nil, problemf(http.StatusTooManyRequests, "another configuration is being checked: try again in a second")
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
