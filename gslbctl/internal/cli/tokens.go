package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/gslbctl/internal/fleet"
	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
)

func (a *app) tokensCommand() *cobra.Command {
	return cmdline.Group("tokens", "List, create, rotate and revoke tokens", a.tokensListCommand(), a.whoamiCommand(),
		cmdline.Changing(a.tokensCreateCommand()), cmdline.Changing(a.tokensRotateCommand()), a.tokensRevokeCommand())
}

func (a *app) tokensListCommand() *cobra.Command {
	return cmdline.ListCommand(a.App, "list", "List the tokens that all nodes accept, without secrets",
		(*api.Client).Tokens, func(list api.TokenList) *render.Table {
			t := &render.Table{Columns: []render.Column{{Name: "NAME"}, {Name: "TYPE"}, {Name: "ROLE"}, {Name: "SCOPE",
				Spare: 1}, {Name: "EXPIRES"}, {Name: "BY", Spare: 2}, {Name: "CREATED", Wide: true},
				{Name: "ROTATED", Wide: true}, {Name: "COMMENT", Wide: true}},
				Empty: "There are no tokens except those of the configuration files."}
			for i := range list.Tokens {
				one := &list.Tokens[i]
				expires := a.Moment(momentOf(one.ExpiresAt), "never")
				if one.Status == api.TokenExpired {
					expires = render.C("expired")
				}
				t.AddNamed(one.Name, render.C(one.Name), render.C(one.Type), render.C(one.Role),
					render.C(scopeText(&one.Scope)), expires, orNone(one.CreatedBy), a.Moment(&one.CreatedAt, "-"),
					a.Moment(momentOf(one.RotatedAt), "never"), orNone(one.Comment))
			}
			return t
		})
}

func (a *app) whoamiCommand() *cobra.Command {
	return cmdline.ListCommand(a.App, "whoami", "Show name, role and scope of the token in use",
		(*api.Client).Identity, func(id api.Identity) *render.Table {
			t := &render.Table{Columns: []render.Column{{Name: "NAME"}, {Name: "ROLE"}, {Name: "SCOPE", Spare: 1},
				{Name: "EXPIRES"}, {Name: "SOURCE"}}, Empty: "The node requires no tokens."}
			if id.Source != api.IdentityOpen {
				t.AddNamed(id.Name, render.C(id.Name), render.C(string(id.Role)), render.C(scopeText(&id.Scope)),
					a.Moment(id.ExpiresAt, "never"), render.C(string(id.Source)))
			}
			return t
		})
}

// momentOf returns nil for the zero time.
func momentOf(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// scopeText returns the lists of a scope in a line.
func scopeText(s *model.TokenScope) string {
	var parts []string
	for _, l := range []struct {
		name    string
		entries []string
	}{{"zones", s.Zones}, {"names", s.Names}, {"kinds", s.Kinds}, {"regions", s.Regions}, {"owners", s.Owners},
		{"actions", s.Actions}} {
		if len(l.entries) > 0 {
			parts = append(parts, l.name+" "+strings.Join(l.entries, ","))
		}
	}
	if len(parts) == 0 {
		return "everything"
	}
	return strings.Join(parts, "; ")
}

func (a *app) tokensCreateCommand() *cobra.Command {
	var flags *settingFlags
	var life time.Duration
	cmd := &cobra.Command{
		Use:   "create <name>",
		Short: "Create a token that all nodes accept",
		Long: "create prints the secret of the new token. No later command shows it. The configuration file of the node\n" +
			"must have a token in api.tokens.admin, which remains valid when other tokens are lost.",
		Example: "  gslbctl tokens create shop --role admin --scope-zones shop.example.com\n" +
			"  gslbctl tokens create acme.example --type tsig --algorithm hmac-sha256 --expires-in 90d",
		Args: cobra.ExactArgs(1), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			patch, err := flags.patch()
			if err != nil {
				return err
			}
			req := api.TokenChange(patch)
			req["name"] = args[0]
			if life > 0 {
				req["expires_at"] = api.Stamp(a.Now().Add(life))
			}
			made, err := fleet.ChangeFirst(cmd.Context(), a.Fleet,
				func(ctx context.Context, c *api.Client) (api.TokenSecret, error) { return c.CreateToken(ctx, req) })
			if err != nil {
				return err
			}
			return a.printSecret(made, "created")
		},
	}
	flags = addSettingFlags(cmd, api.TokenChange(nil).Declared(), nil, "name", "expires_at")
	cmdline.SpanVar(cmd.Flags(), &life, "expires-in", 0, "time until the token expires, such as 90d (default never)")
	return cmd
}

// printSecret prints the secret of a token after a change.
func (a *app) printSecret(made api.TokenSecret, done string) error {
	return a.Print(made, func() string {
		return fmt.Sprintf("token %s is %s; its secret, which is not shown again:\n%s\n", made.Token.Name, done, made.Secret)
	})
}

func (a *app) tokensRotateCommand() *cobra.Command {
	var overlap time.Duration
	cmd := &cobra.Command{
		Use:   "rotate <name>",
		Short: "Replace the secret of a token",
		Long: "rotate prints the new secret. The previous secret of a bearer token stays valid for --overlap, at most\n" +
			"seven days; without the flag, nodes reject it as soon as they have the change.",
		Example: "  gslbctl tokens rotate external-dns --overlap 1h",
		Args:    cobra.ExactArgs(1), ValidArgsFunction: a.CompleteArguments(tokenNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			req := api.TokenRotation{}
			if overlap > 0 {
				req.Overlap = overlap.String()
			}
			made, err := fleet.ChangeFirst(cmd.Context(), a.Fleet,
				func(ctx context.Context, c *api.Client) (api.TokenSecret, error) {
					return c.RotateToken(ctx, args[0], req)
				})
			if err != nil {
				return err
			}
			return a.printSecret(made, "rotated")
		},
	}
	cmdline.SpanVar(cmd.Flags(), &overlap, "overlap", 0, "time for which the previous secret stays valid")
	return cmd
}

func (a *app) tokensRevokeCommand() *cobra.Command {
	return a.removal(removal{
		use: "revoke <name>", short: "Revoke a token",
		shared:   true,
		names:    tokenNames,
		question: "revoking %s ends the access of its clients immediately",
		apply:    deleting((*api.Client).RevokeToken, "the token %s is revoked"),
	})
}

func tokenNames(ctx context.Context, c *api.Client) ([]string, error) {
	list, err := c.Tokens(ctx)
	return each(list.Tokens, func(t api.Token) string { return t.Name }), err
}
