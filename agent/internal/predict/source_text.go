package predict

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// metricValue returns the sum of the series of a metric that match the labels. name with the suffix _count is the count
// of a histogram or summary. A metric without a matching series is 0, because no error has occurred yet. A missing
// metric is an error, because the name may be mistyped.
func metricValue(from io.Reader, name string, labels map[string]*regexp.Regexp) (float64, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(from)
	if err != nil {
		return 0, fmt.Errorf("the answer is not in the text format of Prometheus: %w", err)
	}
	family, counts := families[name], false
	if base, ok := strings.CutSuffix(name, "_count"); ok && family == nil {
		family, counts = families[base], true
	}
	if family == nil {
		return 0, fmt.Errorf("it has no metric %s", name)
	}
	sum := 0.0
	for _, series := range family.GetMetric() {
		if !fits(series.GetLabel(), labels) {
			continue
		}
		value, ok := valueOf(series, counts)
		if !ok {
			return 0, fmt.Errorf("metric %s is a %s: name a counter, a gauge, or a histogram's %s_count", name,
				strings.ToLower(family.GetType().String()), name)
		}
		sum += value
	}
	return sum, nil
}

// fits reports whether a series has all of the labels.
func fits(has []*dto.LabelPair, want map[string]*regexp.Regexp) bool {
	for name, pattern := range want {
		value := ""
		for _, l := range has {
			if l.GetName() == name {
				value = l.GetValue()
			}
		}
		if !pattern.MatchString(value) {
			return false
		}
	}
	return true
}

func valueOf(m *dto.Metric, counts bool) (value float64, ok bool) {
	switch {
	case counts && m.Histogram != nil:
		return float64(m.Histogram.GetSampleCount()), true
	case counts && m.Summary != nil:
		return float64(m.Summary.GetSampleCount()), true
	case counts:
		return 0, false
	case m.Counter != nil:
		return m.Counter.GetValue(), true
	case m.Gauge != nil:
		return m.Gauge.GetValue(), true
	case m.Untyped != nil:
		return m.Untyped.GetValue(), true
	}
	return 0, false
}

// fieldValue finds a number in a JSON document.
func fieldValue(from io.Reader, path []string) (float64, error) {
	decoder := json.NewDecoder(from)
	var at any
	if err := decoder.Decode(&at); err != nil {
		if errors.Is(err, errLargeSource) {
			return 0, err
		}
		return 0, fmt.Errorf("the answer is not JSON: %w", err)
	}
	for i, name := range path {
		object, ok := at.(map[string]any)
		if !ok {
			return 0, fmt.Errorf("it has no field %s: the value before %q is not an object", strings.Join(path, "."), name)
		}
		if at, ok = object[name]; !ok {
			return 0, fmt.Errorf("it has no field %s", strings.Join(path[:i+1], "."))
		}
	}
	value, ok := at.(float64)
	if !ok {
		return 0, fmt.Errorf("field %s is not a number", strings.Join(path, "."))
	}
	return value, nil
}
