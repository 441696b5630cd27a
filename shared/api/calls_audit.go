package api

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// AuditLog lists the audit entries that the query selects: all entries, or a page if the query has limit and offset.
func (c *Client) AuditLog(ctx context.Context, query url.Values) (AuditList, error) {
	const path = "/api/v1/audit-logs"
	if query.Has("limit") {
		return get[AuditList](ctx, c, path, query)
	}
	return everyPage(ctx, c, path, query, func(l *AuditList) (*[]AuditEntry, int) { return &l.Entries, l.Total })
}

// AuditEntry returns the audit entry with a number.
func (c *Client) AuditEntry(ctx context.Context, id string) (AuditEntry, error) {
	one, err := get[AuditOne](ctx, c, "/api/v1/audit-logs", nil, id)
	return one.Entry, err
}

// exportTimeout bounds an export, which may contain the whole log.
const exportTimeout = 10 * time.Minute

// ExportAudit writes the audit entries that the query selects to w as they arrive, in the query's
// format. After an error, w may have a part of them.
func (c *Client) ExportAudit(ctx context.Context, query url.Values, w io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, exportTimeout)
	defer cancel()
	req, err := c.request(ctx, call{method: http.MethodGet, path: "/api/v1/audit-logs/export", query: query})
	if err != nil {
		return err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return c.unreachable(ctx, err, true)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
		if err != nil {
			return c.unreachable(ctx, err, true)
		}
		return c.decode(resp, body, 0, nil)
	}
	if _, err := io.Copy(w, resp.Body); err != nil {
		return fmt.Errorf("the export is not whole: %w", err)
	}
	return nil
}

// LastChange returns the latest change of the token's user, which Undo with "last" would undo. It changes nothing.
func (c *Client) LastChange(ctx context.Context) (Undone, error) {
	return c.UndoableChange(ctx, "last")
}

// UndoableChange returns the change that Undo with the same entry would undo, or the error of Undo. It changes nothing.
func (c *Client) UndoableChange(ctx context.Context, entry string) (Undone, error) {
	return ask[Undone](ctx, c, call{method: http.MethodPost, path: "/api/v1/audit-logs", names: []string{entry, "undo"},
		query: url.Values{"dry_run": {"true"}}})
}

// Undo undoes the change of an audit entry, given by its number, or by "last" for the latest change of the token's
// user. It fails with an *Error of status 409 if a later change concerns the same object, or if such a change cannot be
// undone.
func (c *Client) Undo(ctx context.Context, entry string) (Undone, error) {
	return send[Undone](ctx, c, http.MethodPost, "/api/v1/audit-logs", nil, entry, "undo")
}
