package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/shared/api"
)

func (a *app) auditCommand() *cobra.Command {
	return group("audit", "Show who changed what, and check that the log of it is whole", a.auditListCommand(),
		a.auditVerifyCommand(), a.auditTailCommand(), a.auditExportCommand())
}

func (a *app) auditListCommand() *cobra.Command {
	var limit int
	var f auditFlags
	cmd := a.listing(&cobra.Command{
		Use:   "list",
		Short: "List the latest changes, the newest first",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if limit < 1 || limit > api.MaxPageLimit {
				return fmt.Errorf("--limit is %d: it must be from 1 to %d", limit, api.MaxPageLimit)
			}
			query, err := f.query(a.Now())
			if err != nil {
				return err
			}
			query.Set("limit", strconv.Itoa(limit))
			list, err := read(cmd.Context(), a, with((*api.Client).AuditLog, query))
			if err != nil {
				return err
			}
			t := &render.Table{
				Columns: []render.Column{{Name: "ID", Right: true}, {Name: "WHEN"}, {Name: "ACTOR"}, {Name: "ACTION"},
					{Name: "RESOURCE", Spare: 3}, {Name: "WHICH", Spare: 1}, {Name: "OUTCOME", Spare: 2},
					{Name: "FROM", Wide: true}, {Name: "REQUEST", Wide: true}},
				Empty: "Nothing was changed.",
			}
			for _, e := range list.Entries {
				id := strconv.FormatUint(e.ID, 10)
				t.AddNamed(id, render.C(id), a.ago(&e.Timestamp), render.C(e.Actor), render.C(e.Action), render.C(e.Resource),
					render.C(e.ResourceID), render.C(e.Status),
					orNone(e.ActorIP), orNone(e.RequestID))
			}
			return a.list(list, t)
		},
	})
	cmd.Flags().IntVar(&limit, "limit", api.DefaultPageLimit, "how many entries to show at most")
	f.add(cmd)
	return cmd
}

// auditVerdict is the output of audit verify.
type auditVerdict struct {
	Sound   bool   `json:"sound"`
	Entries int    `json:"entries"`
	Problem string `json:"problem"`
}

func (a *app) auditVerifyCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "verify",
		Short: "Compute the chain of the audit log again, and name the first entry that breaks it",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			v, err := read(cmd.Context(), a, readVerdict)
			if err != nil {
				return err
			}
			err = a.print(v, func() error {
				said := fmt.Sprintf("The audit log is whole: %s.", render.Count(v.Entries, "entry", "entries"))
				if !v.Sound {
					said = "The audit log is not as it was written: " + render.Printable(v.Problem) + "."
				}
				_, err := fmt.Fprintln(a.Out, said)
				return err
			})
			if err != nil || v.Sound {
				return err
			}
			return &outcome{code: exitDegraded}
		},
	}
}

// readVerdict checks the chains of a node: that of changes and that of refusals.
func readVerdict(ctx context.Context, c *api.Client) (auditVerdict, error) {
	v := auditVerdict{Sound: true}
	for _, actions := range []string{"", api.AuditRefused} {
		query := url.Values{"sort_order": {"asc"}}
		if actions != "" {
			query.Set("actions", actions)
		}
		list, err := c.AuditLog(ctx, query)
		if refused, ok := errors.AsType[*api.Error](err); ok && actions != "" && refused.Status == http.StatusBadRequest {
			break // a node of an earlier version keeps no refusals apart
		}
		if err != nil {
			return v, err
		}
		part := verifyAudit(list.Entries)
		v.Entries += part.Entries
		if !part.Sound {
			v.Sound, v.Problem = false, part.Problem
			break
		}
	}
	return v, nil
}

// verifyAudit returns the first entry that breaks the chain of hashes. entries must be sorted, the
// oldest first.
func verifyAudit(entries []api.AuditEntry) auditVerdict {
	v := auditVerdict{Entries: len(entries)}
	var before *api.AuditEntry
	for i := range entries {
		if err := entries[i].Follows(before); err != nil {
			v.Problem = err.Error()
			return v
		}
		before = &entries[i]
	}
	v.Sound = true
	return v
}
