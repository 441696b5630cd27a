package httpapi

import (
	"encoding/json"
	"net/http"
	"time"

	"gslb.internal/shared/api"
)

// answer is what a handler gives back for encoding. A nil body has none.
type answer struct {
	status int
	body   any
}

func ok(body any) answer { return answer{http.StatusOK, body} }

func noContent() answer { return answer{http.StatusNoContent, nil} }

// reply writes a status and a JSON body and ends the request. The encoder
// writes only when all is encoded, in room that it keeps for the next body.
// The types of shared/api always encode, so a failure here is a fault of our
// own that the recovery answers.
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

// stamp is a moment as the API shows it: UTC, in milliseconds.
func stamp(t time.Time) time.Time { return api.Moment(t).Truncate(time.Millisecond) }

// stampOrNull is stamp for a moment that may not have come yet.
func stampOrNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	at := stamp(t)
	return &at
}

// milliseconds shows a duration with microsecond precision.
func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
