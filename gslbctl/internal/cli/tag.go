package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"gslb.internal/shared/api"
)

// tagFlag adds --tag to a list of objects of domains. Only domains have tags.
func (a *app) tagFlag(cmd *cobra.Command, tag *string) {
	cmd.Flags().StringVar(tag, "tag", "", "only of domains that have this `tag`")
	_ = cmd.RegisterFlagCompletionFunc("tag", a.Complete(tagNames))
}

// untagged returns a function that reports whether a name lacks the tag on a node. If tag is empty, the function
// returns false for every name.
func untagged(ctx context.Context, c *api.Client, tag string) (func(name string) bool, error) {
	if tag == "" {
		return func(string) bool { return false }, nil
	}
	list, err := c.TaggedDomains(ctx, tag)
	tagged := make(map[string]bool, len(list.Domains))
	for _, d := range list.Domains {
		tagged[strings.ToLower(d.Name)] = true
	}
	return func(name string) bool { return !tagged[strings.ToLower(name)] }, err
}
