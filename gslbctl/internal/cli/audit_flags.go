package cli

import (
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gslb.internal/shared/api"
)

// auditFlags select audit entries.
type auditFlags struct {
	since   time.Duration
	actors  []string
	actions []string
	search  string
}

// add adds the flags to a command.
func (f *auditFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	spanVar(flags, &f.since, "since", 0, "only entries not older than this `time`, such as 10m or 2d")
	flags.StringSliceVar(&f.actors, "actor", nil, "only by this `actor`, the name of a token or an address; or several")
	flags.StringSliceVar(&f.actions, "action", nil,
		"only of this `action`, or several; "+api.AuditRefused+" shows requests and agents that were refused")
	flags.StringVar(&f.search, "search", "", "only entries with this `text`")
	_ = cmd.RegisterFlagCompletionFunc("actor", cobra.NoFileCompletions)
	_ = cmd.RegisterFlagCompletionFunc("action",
		cobra.FixedCompletions(api.AuditActions(), cobra.ShellCompDirectiveNoFileComp))
}

func (f *auditFlags) query(now time.Time) (url.Values, error) {
	return query(now, f.since, map[string]string{
		"actors": strings.Join(f.actors, ","), "actions": strings.Join(f.actions, ","), "search": f.search,
	})
}
