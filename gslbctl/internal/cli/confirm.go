package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"gslb.internal/shared/api"
)

// yesFlag adds --yes to a command that asks for confirmation.
func yesFlag(cmd *cobra.Command, yes *bool) {
	cmd.Flags().BoolVarP(yes, "yes", "y", false, "do not ask before acting")
}

// entityTags returns the entity tags of an object, by node, as of now. Read before a question, they let the change fail
// if the object has changed meanwhile. It returns none if nobody is asked. A node without the object has no tag.
func (a *app) entityTags(ctx context.Context, yes bool,
	look func(context.Context, *api.Client) error) (map[string]string, error) {
	if yes || !a.Asks {
		return nil, nil
	}
	replies, err := onAll(ctx, a, askingAll, func(ctx context.Context, c *api.Client) (tag string, err error) {
		err = look(api.NoteTag(ctx, &tag), c)
		return tag, err
	})
	tags := make(map[string]string, len(replies))
	for _, r := range replies {
		tags[r.node] = r.answer
	}
	return tags, err
}

// confirm asks before an irreversible change. Without a terminal to ask, only --yes confirms.
func (a *app) confirm(ctx context.Context, yes bool, consequence string) error {
	if yes {
		return nil
	}
	if !a.Asks {
		return fmt.Errorf("%s: add --yes to confirm, since there is no terminal to ask on; "+nothingChanged, consequence)
	}
	fmt.Fprintf(a.Err, "%s. Continue? [y/N] ", consequence)
	switch line, err := a.typed(ctx); {
	case err != nil:
		fmt.Fprintln(a.Err)
	case slices.Contains([]string{"y", "yes"}, strings.ToLower(strings.TrimSpace(line))):
		return nil
	}
	return &outcome{code: exitDegraded, sentence: nothingChanged}
}
