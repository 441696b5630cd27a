package httpapi

import (
	"mime"
	"net/http"
	"runtime"
	"slices"
	"time"

	"github.com/gin-gonic/gin"

	"gslb.internal/shared/api"
)

// yamlTypes are what YAML is called: RFC 9512, what was usual before it, and
// text in general. JSON is YAML.
var yamlTypes = []string{"application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml", "text/plain", "application/json"}

func isYAML(contentType string) bool {
	kind, _, err := mime.ParseMediaType(contentType)
	return err == nil && slices.Contains(yamlTypes, kind)
}

// checkPatience is how long a text waits for the one before it: one takes some
// 150 octets of memory per octet, so they are checked one after the other.
const checkPatience = time.Second

// postConfigValidate answers POST /config/validate. The text is checked by
// itself: no file is read, and nothing comes from the environment.
func (s *Server) postConfigValidate(c *gin.Context) (answer, error) {
	body := bodyOf(c)
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

// platform is what the program was built for.
func platform() string { return runtime.GOOS + "/" + runtime.GOARCH }
