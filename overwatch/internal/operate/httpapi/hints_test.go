package httpapi // inside: it shares world_test.go

import (
	"errors"
	"strings"
	"testing"

	"gslb.internal/shared/api"
)

// hinted receives hints.
type hinted struct{}

func (hinted) Challenge() string { return api.KeySyncScheme + ` nonce="n"` }

func (hinted) Answer(where, backends, authorization string) (string, error) {
	if authorization != api.KeySyncScheme+" good" {
		return "", errors.New("the proof is wrong")
	}
	return where + " " + backends, nil
}

// A hint needs the proof of a node. The path of the proof includes the query.
func TestHints(t *testing.T) {
	w := newWorld(t, func(o *Options) { o.Hints = hinted{} })
	const path = "/api/v1/replication/hints?backends=a.example%3A192.0.2.1%3A80"
	for _, tc := range []struct {
		proof  string
		status int
		has    string
	}{
		{"", 200, `{}`}, {"bad", 401, `the proof is wrong`},
		{"good", 200, `{"sealed":"` + path + ` a.example:192.0.2.1:80"}`},
	} {
		var headers []string
		if tc.proof != "" {
			headers = append(headers, "Authorization", api.KeySyncScheme+" "+tc.proof)
		}
		if r := w.send("GET", path, "", headers...); r.status != tc.status || !strings.Contains(r.body, tc.has) {
			t.Errorf("%q: %d %s", tc.proof, r.status, r.body)
		}
	}
	none := newWorld(t)
	none.wantError("a node without hints", none.send("GET", path, ""), 404, "exchanges no hints")
}
