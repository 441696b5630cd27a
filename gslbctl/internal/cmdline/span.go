package cmdline

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"gslb.internal/gslbctl/internal/render"
)

// span is the value of a flag for a duration. It accepts the format of tables, with days: 1d, 2d3h, 30m.
type span time.Duration

// SpanVar adds a flag for a time.
func SpanVar(flags *pflag.FlagSet, to *time.Duration, name string, otherwise time.Duration, usage string) {
	*to = otherwise
	flags.Var((*span)(to), name, usage)
}

// Set parses the text of the flag.
func (s *span) Set(text string) error {
	d, err := ParseSpan(text)
	*s = span(d)
	return err
}

// Type names the kind of the flag's value.
func (*span) Type() string { return "duration" }

func (s *span) String() string {
	if *s == 0 {
		return "" // help shows no default then
	}
	return render.Span(time.Duration(*s))
}

const Day = 24 * time.Hour

// ParseSpan parses a duration as time.ParseDuration does. The text can begin with a number of days.
func ParseSpan(text string) (time.Duration, error) {
	number, rest, hasDays := strings.Cut(text, "d")
	if !hasDays {
		return time.ParseDuration(text)
	}
	days, err := strconv.ParseInt(number, 10, 64)
	if err != nil || max(days, -days) > int64(maxSpan/Day) {
		return 0, fmt.Errorf("%q is not a number of days from 0 to %d", number, maxSpan/Day)
	}
	total := time.Duration(days) * Day
	if rest == "" {
		return total, nil
	}
	more, err := time.ParseDuration(rest)
	if err != nil || more < 0 || more > maxSpan || days < 0 {
		return 0, fmt.Errorf("%q cannot follow the days", rest)
	}
	return total + more, nil
}

// maxSpan limits the days and the remainder separately, so that their sum fits a time.Duration.
const maxSpan = 50_000 * Day
