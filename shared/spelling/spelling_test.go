package spelling_test

import (
	"strings"
	"testing"

	"gslb.internal/shared/spelling"
)

func TestDistance_CountsEdits(t *testing.T) {
	tests := []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"abc", "abc", 0}, {"abc", "acb", 1}, {"kitten", "sitting", 3}, {"interval",
		"intervall", 1}, {strings.Repeat("x", 65), "x", 64}}
	for _, tt := range tests {
		if got := spelling.Distance(tt.a, tt.b); got != tt.want {
			t.Errorf("%q, %q: %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}
