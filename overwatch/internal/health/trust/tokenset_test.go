package trust // inside: it shares rig_test.go

import (
	"slices"
	"testing"
)

func TestKnowsAll_IsToldOfWhoHasProvedAllServices(t *testing.T) {
	const other = "another token, of 36 characters or so"
	for name, c := range map[string]struct {
		happens func(*rig)
		want    []string
	}{
		"nobody":           {func(*rig) {}, nil},
		"one service each": {func(r *rig) { r.agent("a").enrol("app.test"); r.agent("b").enrol("db.test") }, nil},
		"both at once":     {func(r *rig) { r.agent("a").enrol("app.test", "db.test") }, []string{"a"}},
		"a service later":  {func(r *rig) { a := r.agent("a"); a.enrol("app.test"); a.enrol("db.test") }, []string{"a"}},
		"a wrong proof":    {func(r *rig) { r.agent("a").enrol("app.test", "db.test="+other) }, nil},
		"at the next start": {func(r *rig) {
			r.agent("a").enrol("app.test", "db.test")
			r.sets, r.knows = nil,
				nil
			r.restart()
		}, []string{"a"}},
		"a token for two services": {func(r *rig) {
			r.trust.SetTokens(map[string][]string{"app.test": {appToken}, "db.test": {appToken}}, nil)
			r.agent("a").enrol("app.test")
		}, []string{"a"}},
		"a service that goes": {func(r *rig) {
			r.agent("a").enrol("app.test")
			r.trust.SetTokens(map[string][]string{"app.test": {appToken}}, nil)
		}, []string{"a"}},
		"a service that comes": {func(r *rig) {
			r.agent("a").enrol("app.test", "db.test")
			r.trust.SetTokens(map[string][]string{"app.test": {appToken}, "db.test": {dbToken}, "web.test": {other}}, nil)
		}, []string{"a"}},
		"a new token, which it will be given": {func(r *rig) {
			r.agent("a").enrol("app.test", "db.test")
			r.trust.SetTokens(map[string][]string{"app.test": {appToken}, "db.test": {other, dbToken}}, nil)
		}, []string{"a", "a"}},
		"a new token after it was revoked": {func(r *rig) {
			r.agent("a").enrol("app.test", "db.test")
			must(r.t, r.trust.Revoke(r.t.Context(), "a", "stolen"))
			r.trust.SetTokens(map[string][]string{"app.test": {appToken}, "db.test": {other, dbToken}}, nil)
		}, []string{"a"}},
		"revoked, and the start after": {func(r *rig) {
			r.agent("a").enrol("app.test", "db.test")
			must(r.t, r.trust.Revoke(r.t.Context(), "a", "stolen"))
			r.sets, r.knows = nil, nil
			r.restart()
		}, []string{"a"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			c.happens(r)
			if !slices.Equal(r.knows, c.want) {
				t.Errorf("told of %v, want %v", r.knows, c.want)
			}
		})
	}
}

func TestTokenSetOf_FollowsTheCurrentTokens(t *testing.T) {
	of := func(tokens map[string][]string) TokenSet { set, _ := TokenSetOf(tokens); return set }
	base, different := TokenSetOf(map[string][]string{"App.test.": {"a"}, "db.test": {"b", "old"}})
	if different != 2 || base != of(map[string][]string{"app.test": {"a"}, "db.test": {"b"}}) {
		t.Errorf("spelling and previous tokens count: %d", different)
	}
	if base == of(map[string][]string{"app.test": {"a"}, "db.test": {"c"}}) ||
		base == of(map[string][]string{"app.test": {"b"}, "db.test": {"a"}}) {
		t.Error("another set has the same name")
	}
	if _, different := TokenSetOf(map[string][]string{"app.test": {"a"}, "db.test": {"a"}}); different != 1 {
		t.Errorf("one token for two services counts as %d", different)
	}
}
