package notify // inside: it calls ask directly, before the node's turn

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/operate/notify/send"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/journal"
	"gslb.internal/shared/api"
)

func newNode(t *testing.T, id, secret string) *Notifier {
	t.Helper()
	dir := t.TempDir()
	n, err := New(Options{Node: id, Path: filepath.Join(dir, "n"), Logger: zerolog.Nop(),
		Journal:   journal.Open(journal.Options{Path: filepath.Join(dir, "j"), Logger: zerolog.Nop()}),
		Settings:  Settings{Secret: []byte(secret), Targets: []config.NotificationTarget{{Name: "chat"}}},
		Peers:     func() []Peer { return nil },
		NewSender: func(config.NotificationTarget) (send.Sender, error) { return nil, nil }})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Only a node with the secret receives the tellings, with their ages. The answer has only the requested group.
func TestNotifier_TellsAPeerWhatItHasTold(t *testing.T) {
	a := newNode(t, "a", "one secret")
	said := Telling{State: "unhealthy", Phase: api.PhaseBegins, Severity: api.EventWarning, ID: "id", Node: "a"}
	at := time.Now().Add(-time.Hour)
	all := map[string]Telling{"backend b1": said}
	said.At = at
	a.targets[0].Told.addNewer("name x", map[string]Telling{"backend b1": said})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("WWW-Authenticate", a.Challenge())
		w.Header().Set("Content-Type", "application/json")
		sealed := ""
		if proof := r.Header.Get("Authorization"); proof != "" {
			var err error
			sealed, err = a.Answer(r.URL.RequestURI(), r.URL.Query().Get("target"), r.URL.Query().Get("group"), proof)
			if err != nil {
				w.WriteHeader(http.StatusUnauthorized)
			}
		}
		_ = json.NewEncoder(w).Encode(api.NotificationsTold{Sealed: sealed})
	}))
	defer server.Close()
	peer := Peer{Node: "a", URL: server.URL}
	b := newNode(t, "b", "one secret")
	for group, want := range map[string]map[string]Telling{"name x": all, "name y": {}} {
		got, err := b.ask(t.Context(), peer, "chat", group)
		for key, telling := range got {
			if off := telling.At.Sub(at); off < -time.Minute || off > time.Minute {
				t.Errorf("%s was told at %s, not %s", key, telling.At, at)
			}
			telling.At = time.Time{}
			got[key] = telling
		}
		if err != nil || !maps.EqualFunc(got, want, func(a, b Telling) bool { return reflect.DeepEqual(a, b) }) {
			t.Errorf("%s: %v %v, want %v", group, got, err, want)
		}
	}
	for _, secret := range []string{"another", ""} {
		if got, err := newNode(t, "c", secret).ask(t.Context(), peer, "chat", "name x"); err == nil {
			t.Errorf("with the secret %q: %v", secret, got)
		}
	}
}

// Tellings from any answer of a peer are bounded in number and length, and lie in the past.
func FuzzParseTold(f *testing.F) {
	f.Add([]byte(`{"backend b1":{"state":"unhealthy","phase":"begins","severity":"warning","id":"i","node":"b","age":7},` +
		`"x":{"phase":"never","node":"a","age":-9223372036854775808}}`))
	f.Add([]byte(`[]`))
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, plain []byte) {
		tells, err := parseTold(plain, now)
		if err != nil {
			return
		}
		all := tellings{}
		all.addNewer("group", tells)
		all.deleteOld(now)
		all.open("group")
		if len(tells) > maxTells {
			t.Errorf("%d tellings", len(tells))
		}
		for key, one := range tells {
			if one.At.After(now) || len(key) > maxTellText {
				t.Errorf("%q: %+v", key, one)
			}
		}
	})
}
