package httpapi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"time"

	"gslb.internal/overwatch/internal/control/objects"
	"gslb.internal/overwatch/internal/control/operations"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/operate/figures"
	"gslb.internal/shared/api"
	"gslb.internal/shared/check"
	"gslb.internal/shared/wire"
)

// postValidate answers POST /overwatch/validate?service&address&port: it checks the matching backends and waits for the
// results.
func (s *Server) postValidate(c *call) (answer, error) {
	wants, all, err := validateFilter(c)
	if err != nil {
		return answer{}, err
	}
	if !s.edit.ChecksServers() {
		return answer{}, problemf(http.StatusNotImplemented,
			"this node makes no own checks: overwatch.validation.enabled is false")
	}
	ctx, cancel := context.WithTimeout(c.Request.Context(), api.ValidateTimeout)
	defer cancel()
	began := time.Now()
	verdicts, err := s.o.CheckNow(ctx, wants)
	ch := &operations.Change{Action: "validate", Resource: "backend", After: len(verdicts),
		ID: cmp.Or(fmt.Sprintf("%.300s", c.Request.URL.RawQuery), "all")}
	s.op.Record(c.request(), ch, began, err)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return answer{}, problemf(http.StatusServiceUnavailable,
			"not all checks ended within %s: name fewer backends with service, address and port", api.ValidateTimeout)
	case err != nil:
		return answer{}, err
	case len(verdicts) == 0 && !all:
		return answer{}, notFound("no backend matches the query %.300q", c.Request.URL.RawQuery)
	}
	run := api.ValidationRun{Results: make([]api.ValidationResult, 0, len(verdicts)), Checked: len(verdicts)}
	for _, v := range verdicts {
		run.Results = append(run.Results, validationResult(v))
	}
	return ok(run), nil
}

// validateFilter parses the filter of the backends to check. all reports whether the request has no filter.
func validateFilter(c *call) (wants func(registry.ID) bool, all bool, err error) {
	port := c.query.number("port")
	var address netip.Addr
	if text := c.query["address"]; text != "" {
		if address, err = objects.ParseAddress(text); err != nil {
			return nil, false, err
		}
	}
	service := wire.CanonicalService(c.query["service"])
	return func(id registry.ID) bool {
		return (service == "" || id.Service == service) && (!address.IsValid() || id.Address == address) &&
			(port == 0 || int(id.Port) == port)
	}, service == "" && !address.IsValid() && port == 0, nil
}

func validationResult(v registry.CheckResult) api.ValidationResult {
	result := api.ValidationResult{
		Service:   v.ID.Service,
		Address:   v.ID.Address.String(),
		Port:      int(v.ID.Port),
		Healthy:   v.Outcome == check.Success,
		LatencyMS: figures.Milliseconds(v.Latency),
	}
	if v.Err != "" {
		result.Error = &v.Err
	}
	return result
}
