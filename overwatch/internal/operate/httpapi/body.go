package httpapi

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"slices"

	"gslb.internal/shared/api"
)

// yamlTypes are the media types of YAML: that of RFC 9512, those in use before it, and text in general. JSON is YAML.
var yamlTypes = []string{
	"application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml", "text/plain", "application/json",
}

// readBody reads a body of at most api.MaxBody bytes, which must be JSON, or YAML where yaml says so.
func readBody(r *http.Request, yaml bool) ([]byte, error) {
	if r.ContentLength > api.MaxBody {
		return nil, tooLarge()
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, api.MaxBody+1))
	kind, _, malformed := mime.ParseMediaType(r.Header.Get("Content-Type"))
	types := []string{"application/json"}
	if yaml {
		types = yamlTypes
	}
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, problemf(http.StatusRequestTimeout, "the body did not arrive within %s", bodyTimeout)
	case err != nil:
		return nil, badRequest("the body cannot be read: it is cut or wrongly encoded")
	case len(body) > api.MaxBody:
		return nil, tooLarge()
	case len(body) > 0 && r.Header.Get("Content-Encoding") != "":
		return nil, problemf(http.StatusUnsupportedMediaType,
			"the body is encoded as %.64q: send it as it is, without Content-Encoding", r.Header.Get("Content-Encoding"))
	case len(body) > 0 && (malformed != nil || !slices.Contains(types, kind)):
		return nil, problemf(http.StatusUnsupportedMediaType, "the body is %.64q: it must be %s",
			r.Header.Get("Content-Type"), types[0])
	}
	return body, nil
}

func tooLarge() *problem {
	return problemf(http.StatusRequestEntityTooLarge, "the body is larger than %d bytes", api.MaxBody)
}
