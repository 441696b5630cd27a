package logging_test

import (
	"testing"
	"time"

	"gslb.internal/shared/logging"
)

func TestLines_WhatChangesEachSecondIsToldFewTimes(t *testing.T) {
	var lines logging.Lines
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for span := range 3 {
		written, lasts := 0, 0
		for range int(logging.LinesSpan / time.Second) {
			ok, last := lines.Take(now)
			if now = now.Add(time.Second); ok {
				written++
			}
			if last {
				lasts++
			}
		}
		if written != 8 || lasts != 1 {
			t.Errorf("span %d: %d lines, %d of them the last", span, written, lasts)
		}
	}
}
