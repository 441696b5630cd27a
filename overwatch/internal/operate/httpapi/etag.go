package httpapi

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"
)

// tagOf is the entity tag of an object (RFC 9110 section 8.8.3). It covers
// what a change can change, so it stays while statuses and counters move.
func tagOf(object any) string {
	encoded, err := json.Marshal(object)
	if err != nil {
		panic(err) // what the API shows always encodes
	}
	sum := sha256.Sum256(encoded)
	return `"` + base64.RawURLEncoding.EncodeToString(sum[:15]) + `"`
}

// tagged answers with an object, and with the tag of what can be changed in
// it.
func tagged(c *gin.Context, status int, body, changeable any) answer {
	c.Header("ETag", tagOf(changeable))
	return answer{status, body}
}

// condition is what a request says that the object must be before a change.
type condition struct {
	path      string   // of the object, for who is told that it does not hold
	match     []string // If-Match; nil: anything
	noneMatch bool     // If-None-Match: *
}

// conditionOf reads If-Match and, where creates says that the request may
// make the object, If-None-Match (RFC 9110 section 13.1). A weak tag never
// matches.
func conditionOf(c *gin.Context, creates bool) (condition, error) {
	cond := condition{path: c.Request.URL.Path}
	c.Set(keyHeededCondition, true)
	if lines := c.Request.Header.Values("If-Match"); len(lines) > 0 {
		for tag := range strings.SplitSeq(strings.Join(lines, ","), ",") {
			tag = strings.TrimSpace(tag)
			if tag != "*" && (len(strings.TrimPrefix(tag, "W/")) < 2 || !strings.HasSuffix(tag, `"`) || !strings.Contains(tag[:len(tag)-1], `"`)) {
				return cond, badRequest("If-Match is %.64q: it must be * or entity tags in quotes, as ETag had them", tag)
			}
			cond.match = append(cond.match, tag)
		}
	}
	if text := c.GetHeader("If-None-Match"); text != "" {
		if text != "*" || !creates {
			return cond, badRequest("If-None-Match is %.64q: here it may only be *, where PUT can create", text)
		}
		cond.noneMatch = true
	}
	return cond, nil
}

// holds checks the object as it is just before the change; nil for none.
func (cond condition) holds(object any) error {
	if cond.noneMatch && object != nil {
		return problemf(http.StatusPreconditionFailed, "If-None-Match is *, and the object of %.300s is there already: nothing was changed", cond.path)
	}
	if cond.match == nil {
		return nil
	}
	if object == nil {
		return problemf(http.StatusPreconditionFailed, "If-Match is given, and there is no such object of %.300s: nothing was changed", cond.path)
	}
	tag := tagOf(object)
	for _, want := range cond.match {
		if want == "*" || want == tag {
			return nil
		}
	}
	return problemf(http.StatusPreconditionFailed, "the object of %.300s has changed since it was read: its tag is %s now; nothing was changed", cond.path, tag)
}
