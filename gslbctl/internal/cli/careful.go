package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/shared/api"
)

// forceFlag adds --force to a command that may take a name's last backends.
func forceFlag(cmd *cobra.Command, force *bool) {
	cmd.Flags().BoolVar(force, "force", false, "go on although names would be left with too few backends, or with none")
}

// careful asks every node which names a change would leave with too few backends. If there are any, it returns an
// error, or with force prints them. Without force, the returned context makes nodes check once more when they make the
// change, and refuse it if it is not safe.
func (a *app) careful(ctx context.Context, force bool, change api.ConsequenceRequest) (context.Context, error) {
	replies, err := onAll(ctx, a, askingAll+" what would be left", with((*api.Client).Consequences, change))
	if err != nil {
		return nil, err
	}
	var sentences []string
	for _, r := range replies {
		if _, silent := errors.AsType[*api.UnreachableError](r.err); silent {
			continue // the change itself will fail there
		}
		if sentence := unsafe(r); sentence != "" && !slices.Contains(sentences, sentence) {
			sentences = append(sentences, sentence)
		}
	}
	switch {
	case force:
		for _, sentence := range sentences {
			fmt.Fprintln(a.Err, "warning: "+render.Printable(sentence))
		}
		return ctx, nil
	case len(sentences) > 0:
		return nil, &outcome{code: exitDegraded, sentence: "nothing was changed: " + strings.Join(sentences, "; ") +
			"; add --force if that is meant"}
	}
	return api.IfSafe(ctx), nil
}

// unsafe returns the reason why a change is not safe on one node, "" if it is.
func unsafe(r reply[api.ConsequenceList]) string {
	if r.err != nil {
		_, sentence := explain(r.err)
		return sentence
	}
	var names []string
	for _, n := range r.answer.Names {
		what := "nobody would answer it"
		if n.Answer == api.AnswerLastResort {
			what = "its last resort would answer"
		}
		if n.Answer == api.AnswerZeroWeight {
			what = "only those of weight 0 would answer"
		}
		names = append(names, fmt.Sprintf("%s would be left with %d of at least %s: %s (%s)", n.Name, n.Serving,
			render.Count(n.Minimum, "backend", "backends"), what, strings.Join(n.QueryTypes, " and ")))
	}
	return strings.Join(names, "; ")
}

// backendsOf returns the backends that a name selects. It returns none if no node answers.
func (a *app) backendsOf(ctx context.Context, name backendName) ([]api.Backend, error) {
	known, err := a.knownBackends(ctx, allBackends)
	return filtered(known, name.matches), err
}

// sameName reports whether a name that a person has written is that of a node.
func sameName(name, written string) bool {
	return strings.EqualFold(name, strings.TrimSuffix(written, "."))
}
