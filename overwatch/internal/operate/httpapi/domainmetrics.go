package httpapi

import (
	"cmp"
	"slices"
	"strings"

	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/shared/api"
)

// maxMetricNames is the largest number of names in a request for metrics of domains.
const maxMetricNames = 100

func domainMetricsOperations() []Operation {
	history := make([]float64, 59)
	history[58] = 99.5
	return []Operation{
		{Method: get, Path: v1 + "/metrics/domains", handle: (*Server).listDomainMetrics,
			Summary: "Get current metrics of domains",
			Description: "The load-balanced answers of this node, the largest rate first. Without `names`, the list has " +
				"the domains with an answer in the last hour. The node counts the answers of at most 10 000 domains. " +
				"Counts begin with the process.", Status: 200,
			Query: paged(text("names", "comma-separated list of at most 100 domains", "app.example.com")),
			Answer: api.DomainMetricsList{Domains: []api.DomainMetrics{{Domain: "app.example.com", QueriesPerSec: 100,
				ErrorRate: 0.0025, AnswerP99MS: new(0.0042), Samples: 128, History: history}}, Total: 1,
				GeneratedAt: exampleTime()}},
	}
}

// listDomainMetrics answers GET /metrics/domains.
func (s *Server) listDomainMetrics(c *call) (answer, error) {
	names := c.query.list("names")
	if len(names) > maxMetricNames {
		return answer{}, badRequest("names has %d domains: request at most %d", len(names), maxMetricNames)
	}
	cfg, _ := s.o.Config()
	set, _ := s.o.Definitions.Defined()
	sorted := s.sortedDomains(cfg, set)
	isKnown := func(name string) bool {
		_, found := slices.BinarySearchFunc(sorted, name, func(d *config.Domain, name string) int {
			return strings.Compare(d.Name, name)
		})
		return found
	}
	rates := s.o.Decisions.Rates()
	if len(names) == 0 {
		for name := range rates {
			names = append(names, name)
		}
	}
	for i, name := range names {
		names[i] = strings.TrimSuffix(strings.ToLower(name), ".")
	}
	names = slices.DeleteFunc(names, func(name string) bool { return !isKnown(name) })
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(rates[b], rates[a]), strings.Compare(a, b))
	})
	list := api.DomainMetricsList{GeneratedAt: stamp(s.o.Now())}
	names, list.Total = pageOf(slices.Values(slices.Compact(names)), c.page, func(name string) string { return name })
	list.Domains = s.figures.Domains(names)
	return ok(list), nil
}
