package registry // inside: it uses linesAtOnce

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestLog_AFlappingBackendIsCounted(t *testing.T) {
	inWorld(t, notValidating, func(w *world) {
		agent := w.authority.agent("one", "eu", "a.example")
		for i := range 600 { // once a second for ten minutes
			w.beat(agent, a1+[]string{" healthy", " unhealthy"}[i%2])
			w.pass(time.Second)
		}
		if n := strings.Count(w.log.String(), "\n"); n < 15 || n > 25 {
			t.Errorf("%d lines in ten minutes, want one at once and one each half minute", n)
		}
		if !strings.Contains(w.log.String(), `"changes":30`) {
			t.Error("the lines do not say how many changes there were")
		}
		w.beatFor(time.Minute, agent, a1+" healthy")
		before := w.log.String()
		w.beat(agent, a1+" unhealthy")
		if w.log.String() == before {
			t.Error("after a quiet time, a change has no line at once")
		}
	})
}

// A failure and a recovery within quietFor after the start of a backend are logged immediately. A single further change
// causes no summary line.
func TestLog_TheFirstFailureHasALineImmediately(t *testing.T) {
	inWorld(t, notValidating, func(w *world) {
		agent := w.authority.agent("one", "eu", "a.example")
		lines := 0
		for i, word := range []string{"healthy", "unhealthy", "healthy", "unhealthy"} {
			w.beat(agent, a1+" "+word)
			if i > 0 {
				lines++
			}
			if got := strings.Count(w.log.String(), `"backend changed"`); got != lines {
				t.Errorf("%d lines after %d changes:\n%s", got, lines, w.log.String())
			}
			w.pass(5 * time.Second)
		}
		w.beat(agent, a1+" healthy")
		if got := strings.Count(w.log.String(), `"backend changed"`); got != lines {
			t.Errorf("%d lines, want no immediate line for the fourth change", got)
		}
		w.beatFor(quietFor, agent, a1+" healthy")
		if got := strings.Count(w.log.String(), `"backend changed"`); got != lines+1 {
			t.Errorf("%d lines, want one for the counted change:\n%s", got, w.log.String())
		}
		if strings.Contains(w.log.String(), "several") {
			t.Error("a single change is logged as several")
		}
	})
}

func TestLog_TheDeathOfASiteIsSummedUp(t *testing.T) {
	inWorld(t, notValidating, func(w *world) {
		for i := range 100 {
			agent := w.authority.agent(fmt.Sprintf("agent%d", i), "eu", "a.example")
			w.beat(agent, fmt.Sprintf("a.example:10.0.1.%d:80 healthy", i+1))
		}
		w.pass(DefaultStaleThreshold + 5*time.Second)
		lines := strings.Count(w.log.String(), "\n")
		if lines != linesAtOnce+1 || !strings.Contains(w.log.String(), `"backends":80`) {
			t.Errorf("%d lines:\n%s", lines, w.log.String())
		}
	})
}
