package roll_test

import (
	"testing"
	"time"

	"gslb.internal/overwatch/internal/answer/dnssec/roll"
)

// A node continues with its knowledge about the parent only at the same stage of the same roll.
func TestResume_SameStageOfTheSameRoll(t *testing.T) {
	began := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	before := roll.Progress{Roll: roll.Roll{Target: []byte("key"), Started: began, By: "n1"}, Stage: roll.Offered,
		ParentSince: began.Add(time.Hour)}
	for name, c := range map[string]struct {
		change func(p *roll.Progress)
		want   time.Time
	}{
		"the same":     {func(*roll.Progress) {}, before.ParentSince},
		"its stage":    {func(p *roll.Progress) { p.Stage = roll.Alone }, time.Time{}},
		"its key":      {func(p *roll.Progress) { p.Target = []byte("other") }, time.Time{}},
		"its time":     {func(p *roll.Progress) { p.Started = began.Add(1) }, time.Time{}},
		"who began it": {func(p *roll.Progress) { p.By = "n2" }, time.Time{}},
	} {
		read := before
		read.ParentSince = time.Time{}
		c.change(&read)
		if read.Resume(&before); !read.ParentSince.Equal(c.want) {
			t.Errorf("%s: the parent has it since %s, want %s", name, read.ParentSince, c.want)
		}
	}
	var none *roll.Progress
	none.Resume(&before)
	read := before
	read.ParentSince = time.Time{}
	if read.Resume(nil); !read.ParentSince.IsZero() {
		t.Error("something is known without a roll before")
	}
}
