package config

import (
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"gslb.internal/shared/settings"
)

// Kinds of the number from error_rate.source.
const (
	KindCounter = "counter" // errors since the start of the application
	KindRate    = "rate"    // errors per minute
)

// minSourceTimeout is the minimum timeout: an application on the same host needs this time for an answer.
const minSourceTimeout = 10 * time.Millisecond

// errorSource checks agent.predictive.error_rate.source, at key.
func (v *validator) errorSource(key string, s *ErrorSource, interval time.Duration) {
	at, err := url.Parse(s.URL)
	switch {
	case s.URL == "":
		v.Add(key+".url", "",
			"is missing: want the URL of the application's errors, such as http://127.0.0.1:8080/metrics")
	case err != nil || at.Scheme != "http" && at.Scheme != "https" || at.Host == "":
		v.Add(key+".url", s.URL, "give a URL with http or https and a host, such as http://127.0.0.1:8080/metrics")
	case at.User != nil:
		v.Add(key+".url", at.Redacted(),
			"a name and password cannot be given here: let the application answer this host without")
	}
	switch {
	case s.Metric == "" && s.Field == "":
		v.Add(key+".metric", "",
			"is missing: name a metric of Prometheus' text format here, or in field a number in a JSON document")
	case s.Metric != "" && s.Field != "":
		v.Add(key+".field", s.Field, "metric is also set: remove the key that the application does not provide")
	case s.Field != "" && slices.Contains(s.Path(), ""):
		v.Add(key+".field", s.Field, "give the names on the way to the number with dots between, such as errors.total")
	}
	for _, name := range slices.Sorted(maps.Keys(s.Labels)) {
		if _, err := wholly(s.Labels[name]); err != nil {
			v.Add(settings.Entry(key+".labels", name), s.Labels[name],
				"it is no regular expression: "+strings.TrimPrefix(err.Error(), "error parsing regexp: "))
		}
	}
	if len(s.Labels) > 0 && s.Metric == "" {
		v.Add(key+".labels", "", "only a metric has labels: give metric, or remove them")
	}
	v.oneOf(key+".kind", s.Kind, []string{KindCounter, KindRate})
	if s.Timeout < minSourceTimeout || s.Timeout > interval {
		v.Addf(key+".timeout", s.Timeout.String(), "give a time from %s to check_interval, which is %s", minSourceTimeout,
			interval)
	}
}

// Given reports whether a source is configured. Otherwise the agent counts failed checks.
func (s *ErrorSource) Given() bool {
	return s.URL != "" || s.Metric != "" || s.Field != "" || len(s.Labels) > 0
}

// Path returns the names in Field, from the top of the document; nil if Field is empty.
func (s *ErrorSource) Path() []string {
	if s.Field == "" {
		return nil
	}
	return strings.Split(s.Field, ".")
}

// Matchers returns Labels as compiled expressions, which Load has validated.
func (s *ErrorSource) Matchers() map[string]*regexp.Regexp {
	matchers := make(map[string]*regexp.Regexp, len(s.Labels))
	for name, text := range s.Labels {
		matchers[name], _ = wholly(text)
	}
	return matchers
}

// wholly compiles an expression that must match a whole value, as in Prometheus.
func wholly(text string) (*regexp.Regexp, error) { return regexp.Compile("^(?s:" + text + ")$") }
