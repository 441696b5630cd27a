package apidoc

import (
	"net/http"
	"strings"

	"gslb.internal/shared/api"
)

// failure describes an error status, with an error text of the API.
type failure struct{ meaning, example string }

var failures = map[int]failure{
	http.StatusBadRequest: {"The request is invalid: the sentence names the field, the value and what " +
		"would be right.", "weight is 5000: it must be from 1 to 1000"},
	http.StatusUnauthorized: {"api.tokens is set and the request has no token, or an unknown token.",
		"this needs a token: send Authorization: Bearer <token>, one of api.tokens or of " +
			"gslbctl tokens"},
	http.StatusForbidden: {"The client is outside api.allowed_networks, its token has another role, or its " +
		"page is of another origin.", "192.0.2.7 is not in api.allowed_networks"},
	http.StatusNotFound: {"There is no such object, or no such path.",
		"no server app.example.com:192.0.2.1:80 is known"},
	http.StatusMethodNotAllowed: {"The path has other methods, which Allow lists.",
		"\"DELETE\" is not a method of this path: it has GET, HEAD"},
	http.StatusRequestTimeout: {"The body did not arrive in time.", "the body did not arrive within 15s"},
	http.StatusConflict: {"The object exists already, another change was faster, or no signing keys are exchanged.",
		"domain app.example.com exists already"},
	http.StatusPreconditionFailed: {"The object has changed since the version of If-Match: read it and retry.",
		"the object of /api/v1/servers/app.example.com:192.0.2.1:80 has changed since it was read: its tag is " +
			"\"9f86d081\" now; nothing was changed"},
	http.StatusRequestEntityTooLarge: {"The body is larger than 1 MiB.", "the body is larger than 1048576 bytes"},
	http.StatusUnsupportedMediaType: {"The body is of another media type.",
		"the body is \"text/plain\": it must be application/json"},
	http.StatusMisdirectedRequest: {"The Host of the request is not a name of this node.",
		"the host \"evil.example\" is not a name of this node: use its address, or add the name to api.allowed_hosts"},
	http.StatusInternalServerError: {"An error of the node; its log has details under the same request id.",
		"an error of this node, not of the request: its log has details under request id 0123456789abcdef"},
	http.StatusNotImplemented: {"The function is not configured on this node.",
		"this node makes no own checks: overwatch.validation.enabled is false"},
	http.StatusServiceUnavailable: {"The node is stopping or overloaded.",
		"the node is stopping or too busy to do this in time: try again"},
	http.StatusInsufficientStorage: {"It could not be stored, so nothing was changed.",
		"nothing was changed, because it could not be stored: the disk of this node is full or failing"},
}

// errorName returns the key of an error status among the responses.
func errorName(status int) string {
	return strings.ReplaceAll(http.StatusText(status), " ", "")
}

func errorResponses(schema object) object {
	made := object{}
	for status, f := range failures {
		example := api.ErrorBody{Error: f.example}
		if status == http.StatusInternalServerError {
			example.RequestID = "0123456789abcdef"
		}
		headers := identified()
		switch status {
		case http.StatusUnauthorized:
			headers["WWW-Authenticate"] = object{"description": "how to authenticate (RFC 6750)",
				"schema": object{"type": "string"}, "example": `Bearer realm="gslb"`}
		case http.StatusMethodNotAllowed:
			headers["Allow"] = object{"description": "the methods of the path", "schema": object{"type": "string"}}
		}
		made[errorName(status)] = object{
			"description": f.meaning, "headers": headers,
			"content": object{"application/json": object{"schema": schema, "example": example}},
		}
	}
	return made
}
