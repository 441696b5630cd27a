package decisions // inside: it uses maxSeries

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"gslb.internal/overwatch/internal/answer/zone"
	"gslb.internal/overwatch/internal/policy"
)

// The answers of a domain are counted by minute for an hour, with the failed answers and the times of the samples.
func TestSeries_CountADomainByMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Now().Truncate(time.Minute).Add(time.Minute))) // the start of a minute
		r := New(1, nil)
		s, healthy, down := r.NewSocketRecorder(), input(1), input(2)
		down.Name = healthy.Name
		for i := range down.Candidates {
			down.Candidates[i].MayServe = false
		}
		began := s.StartSample()
		time.Sleep(time.Millisecond)
		s.RecordAnswer(began, &zone.Selection{Input: healthy}, client)
		r.Totals()
		time.Sleep(time.Minute)
		note(s, healthy, 0, 0)
		note(s, down, 0, zone.NoLead)
		got, known := seriesOf(r, "d1.test")
		if last := SeriesMinutes - 1; !known || got.Answers[last-1] != 1 || got.Failed[last-1] != 0 ||
			got.Answers[last] != 2 || got.Failed[last] != 1 || len(got.Times) != 3 || got.Times[0] != time.Millisecond {
			t.Errorf("%+v", got)
		}
		if rates := r.Rates(); rates["d1.test"] != 3 {
			t.Errorf("%v", rates)
		}
		time.Sleep(time.Hour)
		if got, _ := seriesOf(r, "d1.test"); got.Answers != [SeriesMinutes]uint32{} || len(got.Times) > 0 {
			t.Errorf("after an hour: %+v", got)
		}
		if _, known := seriesOf(r, "d9.test"); known {
			t.Error("a domain without an answer is known")
		}
	})
}

// The number of series and of answer times is bounded. A domain without recent answers makes room.
func TestSeries_AreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := New(1, nil)
		s := r.NewSocketRecorder()
		for range 3 * maxTimes {
			note(s, input(1), 1, 0)
		}
		if got, _ := seriesOf(r, "d1.test"); len(got.Times) != maxTimes || got.Answers[SeriesMinutes-1] != 3*maxTimes {
			t.Errorf("%d times, %d answers", len(got.Times), got.Answers[SeriesMinutes-1])
		}
		for i := range maxSeries {
			r.seriesOf(fmt.Sprint(i), r.now()).add(r.now(), policy.Success, 1)
			if i == maxSeries-2 {
				break
			}
		}
		note(s, input(2), 1, 0)
		if _, known := seriesOf(r, "d2.test"); known || len(r.series) != maxSeries {
			t.Errorf("%d series", len(r.series))
		}
		time.Sleep(2 * time.Hour)
		note(s, input(3), 1, 0)
		if got, known := seriesOf(r, "d3.test"); !known || got.Answers[SeriesMinutes-1] != 1 || len(r.series) != 1 {
			t.Errorf("%d series, %+v", len(r.series), got)
		}
		note(s, input(2), 1, 0)
		if _, known := seriesOf(r, "d2.test"); !known {
			t.Error("a domain that had no room has no series")
		}
	})
}

func seriesOf(r *Recorder, domain string) (Series, bool) {
	found, known := r.Series(domain)[domain]
	return found, known
}
