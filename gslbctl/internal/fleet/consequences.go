package fleet

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/shared/api"
)

// CheckConsequences requests from every node the names that a change would leave with too few backends. If there are
// such names, it returns an error, or prints a warning with force. Without force, the returned context makes each node
// repeat the check with the change, and reject an unsafe change.
func (f *Fleet) CheckConsequences(ctx context.Context, force bool,
	change api.ConsequenceRequest) (context.Context, error) {
	answers, err := AskAll(ctx, f, Asking+" what would be left", CallWith((*api.Client).Consequences, change))
	if err != nil {
		return nil, err
	}
	var problems []string
	for _, a := range answers {
		if IsUnreachable(a.Err) {
			continue // the change will fail on this node with the same error
		}
		if problem := unsafeNames(a); problem != "" && !slices.Contains(problems, problem) {
			problems = append(problems, problem)
		}
	}
	switch {
	case force:
		for _, problem := range problems {
			f.Warn("warning: " + problem)
		}
		return ctx, nil
	case len(problems) > 0:
		return nil, &Error{Code: Degraded, Message: NothingChanged + ": " + strings.Join(problems, "; ") +
			"; add --force to continue"}
	}
	return api.IfSafe(ctx), nil
}

// unsafeNames returns the reason why a change is unsafe on one node, or "" if the change is safe.
func unsafeNames(a Answer[api.ConsequenceList]) string {
	if a.Err != nil {
		_, sentence := Explain(a.Err)
		return sentence
	}
	var names []string
	for _, n := range a.Value.Names {
		left := "no backend would be left to answer"
		switch n.Answer {
		case api.AnswerLastResort:
			left = "the fallback answer would be used"
		case api.AnswerZeroWeight:
			left = "only backends of weight 0 would answer"
		}
		names = append(names, fmt.Sprintf("%s would be left with %d of at least %s: %s (%s)", n.Name, n.Serving,
			render.Count(n.Minimum, "backend", "backends"), left, strings.Join(n.QueryTypes, " and ")))
	}
	return strings.Join(names, "; ")
}

// EntityTags returns the current entity tag of an object on each node. A change with these tags fails if the object
// changes before the operator confirms. A node without the object has no tag.
func (f *Fleet) EntityTags(ctx context.Context, read func(context.Context, *api.Client) error) (map[string]string,
	error) {
	answers, err := AskAll(ctx, f, Asking, func(ctx context.Context, c *api.Client) (tag string, err error) {
		err = read(api.NoteTag(ctx, &tag), c)
		return tag, err
	})
	tags := make(map[string]string, len(answers))
	for _, a := range answers {
		tags[a.Node] = a.Value
	}
	return tags, err
}
