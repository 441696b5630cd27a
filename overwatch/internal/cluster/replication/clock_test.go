package replication // inside: it uses clockedInstance and instanceOf

import (
	"testing"
	"time"
)

func TestInstanceOf_ReadsTheClockOfTheAsker(t *testing.T) {
	told := askerClock{time.UnixMilli(1767225600123), time.UnixMilli(1767225900456)}
	for value, want := range map[string]struct {
		instance string
		clock    askerClock
	}{
		clockedInstance("", told):           {"", told},
		clockedInstance("ABC", told):        {"ABC", told},
		"ABC":                               {"ABC", askerClock{}}, // from a node of 0.9.0
		"ABC~1":                             {"ABC~1", askerClock{}},
		"ABC~1~x":                           {"ABC~1~x", askerClock{}},
		clockedInstance("ABC", told) + "~1": {clockedInstance("ABC", told) + "~1", askerClock{}},
	} {
		instance, clock := instanceOf(value)
		if instance != want.instance || !clock.now.Equal(want.clock.now) || !clock.limit.Equal(want.clock.limit) {
			t.Errorf("%q is %q, %+v", value, instance, clock)
		}
	}
}
