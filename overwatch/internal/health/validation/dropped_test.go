package validation // inside: it uses entry and queue

import (
	"testing"
	"time"
)

// A target that is removed during its check is not added again at the end of the check.
func TestSchedule_WhatGoesDuringItsCheckStaysAway(t *testing.T) {
	s, list, now := newSchedule(settingsOf(9)), targets(2), time.Now()
	s.replaceTargets(list, now)
	now = now.Add(interval)
	first, second := s.nextEntry(now), s.nextEntry(now)
	s.replaceTargets(nil, now)
	for _, e := range []*entry{first, second} {
		s.finishCheck(checkOutcome{entry: e}, now)
	}
	if e := s.nextEntry(now.Add(10 * interval)); e != nil || len(s.plain.queue) != 0 || s.running() != 0 ||
		s.initial != 0 {
		t.Errorf("%v is checked again; %d are waiting, %d running, %d not attempted", e, len(s.plain.queue), s.running(),
			s.initial)
	}
}
