package cmdline

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/shared/api"
	"gslb.internal/shared/spelling"
)

// Suggestion returns the end of an error message, "did you mean ...", after a node has answered 404 or 400. It returns
// "" without a suggestion.
func Suggestion(cmd *cobra.Command, err error) string {
	refused, ok := errors.AsType[*api.Error](err)
	if !ok || cmd == nil || refused.Status != http.StatusNotFound && refused.Status != http.StatusBadRequest {
		return ""
	}
	return suggest(cmd)
}

// SuggestIfEmpty adds a suggestion to the text of an empty table, because a flag may be mistyped. It returns the table.
func SuggestIfEmpty(cmd *cobra.Command, t *render.Table) *render.Table {
	if len(t.Rows) == 0 {
		if found := suggest(cmd); found != "" {
			t.Empty = strings.TrimSuffix(t.Empty, ".") + found
		}
	}
	return t
}

// suggest returns the completion values similar to the typed arguments and flags, as the end of a sentence. It returns
// "" without such values.
func suggest(cmd *cobra.Command) string {
	if cmd.Context() == nil {
		cmd.SetContext(context.Background())
	}
	var found []string
	args := cmd.Flags().Args()
	for i, arg := range args {
		if cmd.ValidArgsFunction != nil {
			found = append(found, Nearest(arg, offered(cmd, cmd.ValidArgsFunction, args[:i]))...)
		}
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		offer, ok := cmd.GetFlagCompletionFunc(f.Name)
		if !ok || cmd.InheritedFlags().Lookup(f.Name) != nil {
			return
		}
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		names := offered(cmd, offer, args)
		for _, value := range values {
			found = append(found, Nearest(value, names)...)
		}
	})
	if len(found) == 0 {
		return ""
	}
	return "; did you mean " + strings.Join(found, " and ") + "?"
}

// offered returns the names of the completion, without their descriptions.
func offered(cmd *cobra.Command, offer cobra.CompletionFunc, args []string) []string {
	list, _ := offer(cmd, args, "")
	names := make([]string, 0, len(list))
	for _, one := range list {
		name, _, _ := strings.Cut(one, "\t")
		names = append(names, name)
	}
	return names
}

// Nearest returns the name nearest to the typed text, or "a or b" for several equally near names. It returns "" if
// NearestNames returns nil.
func Nearest(typed string, names []string) []string {
	best := NearestNames(typed, names)
	if len(best) == 0 {
		return nil
	}
	return []string{strings.Join(best, " or ")}
}

// NearestNames returns the name nearest to typed, or several equally near names. It returns nil if typed is one of the
// names, or no name is near. A name is near if it begins with typed and a dot, or if its edit distance is at most 2 (1
// for short words).
func NearestNames(typed string, names []string) []string {
	key, _, setting := strings.Cut(typed, "=")
	there := slices.Contains(names, typed) || setting && slices.Contains(names, key+"=")
	typed = strings.ToLower(strings.TrimSuffix(typed, "."))
	const longest = 253 // length of a domain name; a longer text cannot be a name
	isNetwork := strings.Contains(typed, "/")
	if typed == "" || len(typed) > longest || isNetwork || there {
		return nil
	}
	var best []string
	least := min(2, max(1, len(typed)/3))
	for _, name := range names {
		plain := strings.ToLower(name)
		if strings.HasPrefix(plain, typed+".") {
			return []string{name}
		}
		if len(plain) > longest {
			continue
		}
		switch d := spelling.Distance(typed, plain); {
		case d == 0 && strings.Contains(plain, "."): // the same domain name in another case
			return nil
		case d < least:
			best, least = []string{name}, d
		case d == least && len(best) < MaxNearest:
			best = append(best, name)
		}
	}
	return best
}

// MaxNearest is the maximum number of names that are equally near to a typed text.
const MaxNearest = 3
