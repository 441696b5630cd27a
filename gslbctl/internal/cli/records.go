package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/shared/api"
)

func (a *app) recordsCommand() *cobra.Command {
	return cmdline.Group("records", "Manage DNS records of the API", a.recordsListCommand(),
		cmdline.Changing(a.recordsAddCommand()), cmdline.Changing(a.recordsSetCommand()), a.recordsDeleteCommand())
}

func (a *app) recordsListCommand() *cobra.Command {
	return cmdline.ListCommand(a.App, "list", "List the DNS records of the API",
		func(c *api.Client, ctx context.Context) (api.RecordSetList, error) { return c.Records(ctx, "") },
		func(list api.RecordSetList) *render.Table {
			t := &render.Table{Columns: []render.Column{{Name: "NAME"}, {Name: "TYPE"}, {Name: "TTL", Right: true},
				{Name: "DATA"}, {Name: "EXPIRES"}, {Name: "OWNER", Wide: true}, {Name: "OMITTED"}},
				Empty: "No DNS records of the API."}
			for _, set := range list.Records {
				for _, r := range set.Records {
					var end *time.Time
					if !r.ExpiresAt.IsZero() {
						end = &r.ExpiresAt
					}
					t.AddNamed(set.Name, render.C(set.Name), render.C(set.Type), number(r.TTL), render.C(r.Data),
						a.Moment(end, "never"), orNone(r.Owner), orNone(r.Omitted))
				}
			}
			return t
		})
}

// recordFlags are the flags of records that a command writes.
type recordFlags struct {
	settings *settingFlags
	expires  time.Duration
}

// addRecordFlags adds the flags of a command that writes records.
func addRecordFlags(cmd *cobra.Command) *recordFlags {
	f := new(recordFlags)
	f.settings = addSettingFlags(cmd, api.RecordSetChange(nil).Declared(), nil, "name", "type", "data", "expires_at")
	cmdline.SpanVar(cmd.Flags(), &f.expires, "expires", 0, "time after which nodes remove the records, such as 24h")
	return f
}

// request returns the request for the data in the arguments of a command.
func (f *recordFlags) request(data []string) (api.RecordSetChange, error) {
	settings, err := f.settings.patch()
	if err != nil {
		return nil, err
	}
	req := api.RecordSetChange(settings)
	if req["data"] = data; f.expires > 0 {
		req["expires_at"] = time.Now().Add(f.expires)
	}
	return req, nil
}

func (a *app) recordsAddCommand() *cobra.Command {
	var flags *recordFlags
	cmd := &cobra.Command{
		Use:   "add <name> <type> <data> ...",
		Short: "Add DNS records beside existing data",
		Long: "add adds records to a name and type, in zone-file form: each argument after the type is the data of a " +
			"record.\nNames are absolute, with or without the final dot.",
		Example: "  gslbctl records add _acme-challenge.app.example.com TXT gfj9Xq --ttl 60 --expires 24h\n" +
			"  gslbctl records add example.com MX \"10 mail.example.com\"",
		Args: cobra.MinimumNArgs(3),
		RunE: func(cmd *cobra.Command, args []string) error {
			req, err := flags.request(args[2:])
			if err != nil {
				return err
			}
			req["name"], req["type"] = args[0], args[1]
			return a.Change(cmd.Context(), func(ctx context.Context, c *api.Client) (string, error) {
				set, err := c.AddRecords(ctx, req)
				return recordsSentence(set), err
			})
		},
	}
	flags = addRecordFlags(cmd)
	return cmd
}

func (a *app) recordsSetCommand() *cobra.Command {
	var flags *recordFlags
	cmd := &cobra.Command{
		Use:     "set <name> <type> <data> ...",
		Short:   "Replace the DNS records of a name and type",
		Long:    "set replaces all records of a name and type that the API has. add adds records beside them.",
		Example: "  gslbctl records set www.example.com A 192.0.2.1 192.0.2.2 --ttl 60",
		Args:    cobra.MinimumNArgs(3),
		RunE: func(cmd *cobra.Command, args []string) error {
			req, err := flags.request(args[2:])
			if err != nil {
				return err
			}
			return a.Change(cmd.Context(), func(ctx context.Context, c *api.Client) (string, error) {
				set, err := c.PutRecords(ctx, args[0], args[1], req)
				return recordsSentence(set), err
			})
		},
	}
	flags = addRecordFlags(cmd)
	return cmd
}

// recordsSentence describes the records of a name and type after a change.
func recordsSentence(set api.RecordSet) string {
	return fmt.Sprintf("%s has the %s records %s", set.Name, set.Type, strings.Join(set.Data, ", "))
}

func (a *app) recordsDeleteCommand() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "delete <name> <type> [data]",
		Short: "Delete DNS records of a name and type",
		Long:  "delete deletes the record with the data, or all records of the name and type without data.",
		Example: "  gslbctl records delete _acme-challenge.app.example.com TXT gfj9Xq\n" +
			"  gslbctl records delete www.example.com A --yes",
		Args: cobra.RangeArgs(2, 3),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 3 && args[2] == "" {
				return fmt.Errorf("the data is empty: give the data of a record, or omit it to delete all records of %s with "+
					"the type %s", args[0], args[1])
			}
			what := strings.Join(args, " ")
			if err := a.Confirm(cmd.Context(), yes, "deleting "+what+" removes it from DNS answers"); err != nil {
				return err
			}
			return a.Change(cmd.Context(), func(ctx context.Context, c *api.Client) (string, error) {
				return what + " is deleted", c.DeleteRecords(ctx, args[0], args[1], strings.Join(args[2:], ""))
			})
		},
	}
	cmdline.YesFlag(cmd, &yes)
	return cmdline.Destroying(cmd)
}
