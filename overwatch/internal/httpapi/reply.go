package httpapi

import (
	"bytes"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"github.com/gin-gonic/gin"
)

// answer is what a handler gives back for encoding. A nil body has none.
type answer struct {
	status int
	body   any
}

func ok(body any) answer { return answer{http.StatusOK, body} }

func noContent() answer { return answer{http.StatusNoContent, nil} }

// reply writes a status and a JSON body and ends the request. The types of
// shared/api always encode, so a failure here is a fault of our own that the
// recovery answers.
func reply(c *gin.Context, status int, body any) {
	c.Abort()
	if body == nil {
		c.Status(status)
		c.Writer.WriteHeaderNow()
		return
	}
	room := rooms.Get().(*bytes.Buffer)
	room.Reset()
	if err := json.NewEncoder(room).Encode(body); err != nil {
		panic(err)
	}
	c.Data(status, "application/json", room.Bytes())
	if room.Cap() <= maxRoom {
		rooms.Put(room)
	}
}

// rooms are where bodies are encoded, so that who polls long lists leaves
// little for the garbage collector, which queries would feel.
var rooms = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// maxRoom is more than a page of the longest list takes, in octets.
const maxRoom = 1 << 20

// stamp is a moment as the API shows it: UTC, in milliseconds.
func stamp(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }

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
