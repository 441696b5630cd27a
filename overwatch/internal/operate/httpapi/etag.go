package httpapi

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"gslb.internal/overwatch/internal/control/fault"
)

// tagOf returns the entity tag of an object (RFC 9110 section 8.8.3). Callers pass only the changeable fields, so that
// the tag does not depend on statuses and counters.
func tagOf(object any) string {
	encoded, err := json.Marshal(object)
	if err != nil {
		panic(err) // the types of package api can always be encoded
	}
	sum := sha256.Sum256(encoded)
	return `"` + base64.RawURLEncoding.EncodeToString(sum[:15]) + `"`
}

// tagged returns an answer with a body and the tag of its changeable part.
func tagged(c *call, status int, body, changeable any) answer {
	c.Header("ETag", tagOf(changeable))
	return answer{status, body}
}

var quotedTag = regexp.MustCompile(`^(W/)?"[^"]*"$`)

// condition is the required state of an object for a change (RFC 9110 section 13.1).
type condition struct {
	path      string   // path of the object, for the error
	match     []string // tags of If-Match; nil: any state
	noneMatch bool     // If-None-Match: *, which means that the object must not exist
}

// readCondition parses the headers If-Match and If-None-Match, and rejects a header that the operation does not
// support. A weak tag never matches.
func readCondition(r *http.Request, o *Operation) (condition, error) {
	cond := condition{path: r.URL.Path}
	for _, header := range []string{"If-Match", "If-None-Match"} {
		listed := slices.ContainsFunc(o.Header, func(p Parameter) bool { return p.Name == header })
		if value := r.Header.Get(header); value != "" && !listed {
			return cond, badRequest("%s is %.64q: %s of this path knows no such condition, leave it out",
				header, value, r.Method)
		}
	}
	if lines := r.Header.Values("If-Match"); len(lines) > 0 {
		for tag := range strings.SplitSeq(strings.Join(lines, ","), ",") {
			tag = strings.TrimSpace(tag)
			if tag != "*" && !quotedTag.MatchString(tag) {
				return cond, badRequest("If-Match is %.64q: it must be * or entity tags in quotes, as ETag had them",
					tag)
			}
			cond.match = append(cond.match, tag)
		}
	}
	if text := r.Header.Get("If-None-Match"); text != "" {
		if text != "*" {
			return cond, badRequest("If-None-Match is %.64q: here it may only be *, where PUT can create", text)
		}
		cond.noneMatch = true
	}
	return cond, nil
}

// holds returns an error unless the object satisfies the condition. object is the state just before the change, or nil
// for a missing object.
func (cond condition) holds(object any) error {
	if cond.noneMatch && object != nil {
		return fault.New(fault.Precondition, "If-None-Match is *, and the object of %.300s is there already: "+
			"nothing was changed", cond.path)
	}
	if cond.match == nil {
		return nil
	}
	if object == nil {
		return fault.New(fault.Precondition, "If-Match is given, and there is no such object of %.300s: nothing was "+
			"changed", cond.path)
	}
	tag := tagOf(object)
	for _, want := range cond.match {
		if want == "*" || want == tag {
			return nil
		}
	}
	return fault.New(fault.Precondition, "the object of %.300s has changed since it was read: its tag is %s now; "+
		"nothing was changed", cond.path, tag)
}
