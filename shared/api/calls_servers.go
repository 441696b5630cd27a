package api

import (
	"context"
	"net/http"
)

// CreateServer registers a server. DNS has changed when it returns.
func (c *Client) CreateServer(ctx context.Context, req ServerCreate) (Named, error) {
	return send[Named](ctx, c, http.MethodPost, "/api/v1/servers", req)
}

// PatchServer changes a server that the API has created.
func (c *Client) PatchServer(ctx context.Context, id string, req ServerPatch) (Named, error) {
	return send[Named](ctx, c, http.MethodPatch, "/api/v1/servers", req, id)
}

// DeleteServer deletes a server that the API has created.
func (c *Client) DeleteServer(ctx context.Context, id string) error {
	return c.remove(ctx, "/api/v1/servers", id)
}

// DrainServer lowers the traffic of a server to nothing.
func (c *Client) DrainServer(ctx context.Context, id string, req DrainRequest) (Drain, error) {
	return send[Drain](ctx, c, http.MethodPost, "/api/v1/servers", req, id, "drain")
}

// UndrainServer gives a server its traffic back.
func (c *Client) UndrainServer(ctx context.Context, id string) (Drain, error) {
	return send[Drain](ctx, c, http.MethodDelete, "/api/v1/servers", nil, id, "drain")
}
