package model_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"gslb.internal/shared/model"
	"gslb.internal/shared/settings"
)

// A failback is a word, an object with a time, or a duration, and has one written form.
func TestFailback_HasAWordOrATime(t *testing.T) {
	after := model.Failback{After: settings.Duration(10 * time.Minute)}
	for text, want := range map[string]struct {
		model.Failback
		written string
	}{
		`"automatic"`:     {model.Failback{}, `"automatic"`},
		`"manual"`:        {model.Failback{Manual: true}, `"manual"`},
		`{"after":"10m"}`: {after, `{"after":"10m0s"}`},
		`"10m"`:           {after, `{"after":"10m0s"}`},
	} {
		var got model.Failback
		if err := json.Unmarshal([]byte(text), &got); err != nil || got != want.Failback {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
		if written, err := json.Marshal(got); err != nil || string(written) != want.written {
			t.Errorf("%s is written as %s, %v", text, written, err)
		}
		if got.Waits() != (got != model.Failback{}) {
			t.Errorf("%s: Waits returns %v", text, got.Waits())
		}
	}
	for _, text := range []string{`"never"`, `""`, `7`, `[]`, `{}`, `{"after":"0s"}`, `{"after":"25h"}`, `{"after":7}`,
		`{"after":"10m","manual":true}`, `"-1s"`, `true`} {
		var got model.Failback
		if err := json.Unmarshal([]byte(text), &got); err == nil || !strings.Contains(err.Error(), "after: 10m") {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
}
