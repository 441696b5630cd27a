package httpapi

import (
	"encoding/json"
	"net/http"
	"time"

	"gslb.internal/shared/api"
)

// answer is the result of a handler: a status, and a body that is encoded as JSON; nil for none.
type answer struct {
	status int
	body   any
}

func ok(body any) answer { return answer{http.StatusOK, body} }

func noContent() answer { return answer{http.StatusNoContent, nil} }

// reply writes a status and a JSON body and ends the request. A type of shared/api that cannot be encoded is a fault
// of this node, which the recovery answers.
func reply(c *call, status int, body any) {
	c.Abort()
	c.Status(status)
	if body == nil {
		c.Writer.WriteHeaderNow()
		return
	}
	c.Header("Content-Type", "application/json")
	encoder := json.NewEncoder(c.Writer)
	encoder.SetEscapeHTML(false) // sentences have < and &, and nobody takes this for HTML
	if err := encoder.Encode(body); err != nil && !c.Writer.Written() {
		panic(err)
	}
}

// stamp returns a time as the API shows it: UTC, in milliseconds.
func stamp(t time.Time) time.Time { return api.Moment(t).Truncate(time.Millisecond) }

// stampOrNull is stamp for a time that may be zero, which becomes null.
func stampOrNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	at := stamp(t)
	return &at
}

// milliseconds shows a duration with microsecond precision.
func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
