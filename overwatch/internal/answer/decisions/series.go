package decisions

import (
	"slices"
	"strings"
	"time"

	"gslb.internal/overwatch/internal/policy"
)

const (
	// SeriesMinutes is the number of minutes of a Series, including the current minute.
	SeriesMinutes = 60
	// maxSeries is the largest number of domains with a Series, about 30 MB. Further domains have none. A domain without
	// an answer in SeriesMinutes makes room for another domain.
	maxSeries = 10_000
	// maxTimes is the largest number of answer times of a Series.
	maxTimes = 128
)

// Series has the answers of a domain by minute, oldest first. The last minute is the current minute.
type Series struct {
	Answers [SeriesMinutes]uint32
	Failed  [SeriesMinutes]uint32 // answers without a backend: SERVFAIL
	// Times are the times to make the latest sampled answers of these minutes, in no order: at most maxTimes.
	Times []time.Duration
}

// series counts the answers of a domain by minute.
type series struct {
	minutes [SeriesMinutes]minuteCount // by Unix minute modulo SeriesMinutes
	times   []answerTime               // a ring of maxTimes samples
	sampled int                        // number of samples so far
}

// minuteCount counts the answers of a minute.
type minuteCount struct {
	minute          uint32 // Unix minute
	answers, failed uint32
}

// answerTime is the time to make a sampled answer.
type answerTime struct {
	minute uint32 // Unix minute
	took   time.Duration
}

func unixMinute(at time.Time) uint32 { return uint32(at.Unix() / 60) }

// add counts answers of the current minute.
func (s *series) add(now time.Time, outcome policy.Outcome, answers uint64) {
	minute := unixMinute(now)
	m := &s.minutes[minute%SeriesMinutes]
	if m.minute != minute {
		*m = minuteCount{minute: minute}
	}
	m.answers += uint32(answers)
	if outcome == policy.NoHealthyBackend {
		m.failed += uint32(answers)
	}
}

// addTime adds the time of a sampled answer.
func (s *series) addTime(t answerTime) {
	if len(s.times) < maxTimes {
		s.times = append(s.times, t)
	} else {
		s.times[s.sampled%maxTimes] = t
	}
	s.sampled++
}

// isIdle reports whether the last SeriesMinutes have no answer.
func (s *series) isIdle(now uint32) bool {
	return !slices.ContainsFunc(s.minutes[:], func(m minuteCount) bool { return now-m.minute < SeriesMinutes })
}

// export returns a copy.
func (s *series) export(now uint32) Series {
	var out Series
	for _, m := range s.minutes {
		if age := now - m.minute; age < SeriesMinutes {
			out.Answers[SeriesMinutes-1-age], out.Failed[SeriesMinutes-1-age] = m.answers, m.failed
		}
	}
	for _, t := range s.times {
		if now-t.minute < SeriesMinutes {
			out.Times = append(out.Times, t.took)
		}
	}
	return out
}

// seriesOf returns the series of a domain, or nil above maxSeries. The caller holds mu.
func (r *Recorder) seriesOf(domain string, now time.Time) *series {
	if known := r.series[domain]; known != nil {
		return known
	}
	if len(r.series) >= maxSeries && !r.dropIdleSeries(unixMinute(now)) {
		return nil
	}
	made := new(series)
	r.series[domain] = made
	return made
}

// dropIdleSeries removes the series without recent answers, at most once per minute. It reports whether it removed any.
// The results are removed too, because they refer to series.
func (r *Recorder) dropIdleSeries(now uint32) bool {
	if r.dropped == now {
		return false
	}
	r.dropped = now
	before := len(r.series)
	for domain, s := range r.series {
		if s.isIdle(now) {
			delete(r.series, domain)
		}
	}
	if len(r.series) == before {
		return false
	}
	clear(r.results)
	return true
}

// collectTimes adds the times of the new samples to the series. The caller holds mu.
func (r *Recorder) collectTimes() {
	for _, s := range r.sockets {
		for _, t := range s.newTimes() {
			if known := r.series[strings.TrimSuffix(t.name, ".")]; known != nil {
				known.addTime(answerTime{unixMinute(t.at), t.took})
			}
		}
	}
}

// sampleTime is the time to make a sampled answer of a domain.
type sampleTime struct {
	name string // with the final dot
	at   time.Time
	took time.Duration
}

// newTimes returns the times of the samples since the last call, oldest first. The Recorder calls it locked.
func (s *SocketRecorder) newTimes() []sampleTime {
	s.mu.Lock()
	defer s.mu.Unlock()
	count := min(s.sampled-s.timed, RingSize)
	s.timed = s.sampled
	if count == 0 {
		return nil
	}
	list := make([]sampleTime, 0, count)
	for n := s.sampled - count; n < s.sampled; n++ {
		d := &s.samples[n%RingSize]
		list = append(list, sampleTime{d.Selection.Input.Name, d.At, d.took})
	}
	return list
}

// Series returns the answers of domains. Domains without an answer in SeriesMinutes, and domains above maxSeries, are
// missing.
func (r *Recorder) Series(domains ...string) map[string]Series {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.collectCounts()
	list := make(map[string]Series, len(domains))
	for _, domain := range domains {
		if found := r.series[domain]; found != nil {
			list[domain] = found.export(unixMinute(r.now()))
		}
	}
	return list
}

// Rates returns the number of answers of each domain with a Series in the current minute and the minute before.
func (r *Recorder) Rates() map[string]uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.collectCounts()
	now := unixMinute(r.now())
	rates := make(map[string]uint64, len(r.series))
	for domain, s := range r.series {
		for _, minute := range []uint32{now - 1, now} {
			if m := s.minutes[minute%SeriesMinutes]; m.minute == minute {
				rates[domain] += uint64(m.answers)
			}
		}
	}
	return rates
}
