package api

import (
	"context"
	"net/http"
)

// CreateServer registers a server. DNS has changed when it returns.
func (c *Client) CreateServer(ctx context.Context, req ServerCreate) (Named, error) {
	var answer Named
	err := c.do(ctx, call{method: http.MethodPost, path: "/api/v1/servers", body: req}, &answer)
	return answer, err
}

// PatchServer changes a server that the API has created.
func (c *Client) PatchServer(ctx context.Context, id string, req ServerPatch) (Named, error) {
	p, err := under("/api/v1/servers", id)
	if err != nil {
		return Named{}, err
	}
	var answer Named
	err = c.do(ctx, call{method: http.MethodPatch, path: p, body: req}, &answer)
	return answer, err
}

// DeleteServer deletes a server that the API has created.
func (c *Client) DeleteServer(ctx context.Context, id string) error {
	p, err := under("/api/v1/servers", id)
	if err != nil {
		return err
	}
	return c.do(ctx, call{method: http.MethodDelete, path: p}, nil)
}

// DrainServer lowers the traffic of a server to nothing.
func (c *Client) DrainServer(ctx context.Context, id string, req DrainRequest) (Drain, error) {
	p, err := under("/api/v1/servers", id, "drain")
	if err != nil {
		return Drain{}, err
	}
	var answer Drain
	err = c.do(ctx, call{method: http.MethodPost, path: p, body: req}, &answer)
	return answer, err
}

// UndrainServer gives a server its traffic back.
func (c *Client) UndrainServer(ctx context.Context, id string) (Drain, error) {
	p, err := under("/api/v1/servers", id, "drain")
	if err != nil {
		return Drain{}, err
	}
	var answer Drain
	err = c.do(ctx, call{method: http.MethodDelete, path: p}, &answer)
	return answer, err
}
