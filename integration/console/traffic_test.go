package console_test

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"gslb.internal/shared/api"
)

// The overview shows the rate of the last hour, the QPS, the errors and the p99 of each listed name.
func TestConsole_ShowsTheTrafficOfNames(t *testing.T) {
	t.Parallel()
	_, f, p := fronted(t)
	f.answersQuery("/api/v1/metrics/domains", func(query url.Values) (int, any) {
		list := api.DomainMetricsList{GeneratedAt: time.Now()}
		for _, name := range strings.Split(query.Get("names"), ",") {
			m := api.DomainMetrics{Domain: name, History: make([]float64, 59)}
			if name == shopName {
				m.QueriesPerSec, m.ErrorRate, m.AnswerP99MS, m.Samples = 1250, 0.25, new(0.0042), 128
				m.History[58] = 1250
			}
			list.Domains = append(list.Domains, m)
		}
		list.Total = len(list.Domains)
		return http.StatusOK, list
	})
	p.open(f.URL, "overview")
	p.agrees("the names", func(context.Context) error {
		rows := map[string][]string{}
		if err := p.shown(rowsOf("names by severity"), &rows); err != nil {
			return err
		}
		for name, want := range map[string][]string{shopName: {"1,250", "■ 25.0%", "4.20 µs"}, apiName: {"0", "0%", "-"}} {
			if cells := rows[name]; len(cells) != 7 || !slices.Equal(cells[4:], want) {
				return differ(name, strings.Join(cells, "|"), strings.Join(want, "|"))
			}
		}
		return nil
	})
	p.wait("a line for each name", "document.querySelectorAll('[aria-labelledby=severity] .spark').length === 3")
}
