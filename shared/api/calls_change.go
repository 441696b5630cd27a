package api

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Unpin deletes the certificate pin of an agent. The agent must prove its token again before its
// reports count.
func (c *Client) Unpin(ctx context.Context, id string) (Outcome, error) {
	p, err := under("/api/v1/overwatch/agents", id)
	if err != nil {
		return Outcome{}, err
	}
	var answer Outcome
	err = c.do(ctx, call{method: http.MethodDelete, path: p}, &answer)
	return answer, err
}

// SetOverride sets the verdict on a backend. address is "<ip>" or "<ip>:<port>". When it returns,
// DNS answers have changed.
func (c *Client) SetOverride(ctx context.Context, service, address string, req OverrideRequest) (Override, error) {
	p, err := under("/api/v1/overrides", service, address)
	if err != nil {
		return Override{}, err
	}
	var answer Override
	err = c.do(ctx, call{method: http.MethodPut, path: p, body: req}, &answer)
	return answer, err
}

// ClearOverride removes an override. When it returns, DNS answers have changed.
func (c *Client) ClearOverride(ctx context.Context, service, address string) error {
	p, err := under("/api/v1/overrides", service, address)
	if err != nil {
		return err
	}
	return c.do(ctx, call{method: http.MethodDelete, path: p}, nil)
}

// ValidateTarget narrows a validation run; an empty field matches all.
type ValidateTarget struct {
	Service string
	Address string
	Port    int
}

// answerMargin is added to the time bound of the node's work, for the transport of request and
// answer.
const answerMargin = 5 * time.Second

// Validate makes the node check backends now and waits for the results, for ValidateTimeout and a
// margin at most.
func (c *Client) Validate(ctx context.Context, target ValidateTarget) (ValidationRun, error) {
	query := url.Values{}
	if target.Service != "" {
		query.Set("service", target.Service)
	}
	if target.Address != "" {
		query.Set("address", target.Address)
	}
	if target.Port != 0 {
		query.Set("port", strconv.Itoa(target.Port))
	}
	var answer ValidationRun
	err := c.do(ctx, call{
		method:  http.MethodPost,
		path:    "/api/v1/overwatch/validate",
		query:   query,
		timeout: ValidateTimeout + answerMargin,
	}, &answer)
	return answer, err
}
