package cli

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/gslbctl/internal/fleet"
	"gslb.internal/gslbctl/internal/screen"
	"gslb.internal/shared/api"
)

// topActions returns the keys of top that change something. cluster is the name of the cluster for their questions.
func (a *app) topActions(cluster string) []screen.Action {
	return []screen.Action{
		{Key: "d", Name: "drain, undrain", Tab: backendsTab, Prompt: drainPrompt, Prepare: a.asChange(cluster, a.topDrain)},
		{Key: "o", Name: "override, clear", Tab: backendsTab, Prompt: overridePrompt,
			Prepare: a.asChange(cluster, a.topOverride)},
		{Key: "u", Name: "undo", Tab: screen.AnyTab, Prepare: a.asChange(cluster, a.topUndo)},
	}
}

// preparation checks a change of a backend, nil without one, and returns its question without the cluster.
type preparation func(ctx context.Context, b *api.Backend, text string) (string, screen.Change, error)

// asChange returns the function Prepare of an action. The requests of the action are one change, and warnings become
// part of its message.
func (a *app) asChange(cluster string, prepare preparation) func(context.Context, screen.Picture, string, string) (
	string, screen.Change, error) {
	return func(ctx context.Context, p screen.Picture, id, text string) (string, screen.Change, error) {
		ctx = api.WithChange(ctx, api.NewChangeID())
		var b *api.Backend
		if id != "" {
			if b = backendOf(p, id); b == nil {
				return "", nil, fmt.Errorf("no node knows the backend %s any more", id)
			}
		}
		question, change, err := prepare(ctx, b, text)
		if err != nil {
			return "", nil, err
		}
		return cluster + ": " + question, func(context.Context) (string, error) {
			var warnings []string
			warn := a.Warn
			a.Warn = func(text string) { warnings = append(warnings, text) }
			defer func() { a.Warn = warn }()
			message, err := change(ctx)
			return strings.Join(append(warnings, message), "\n"), err
		}, nil
	}
}

// backendOf returns a backend of a picture, as the first node that knows it sees it, or nil.
func backendOf(p screen.Picture, id string) *api.Backend {
	o, ok := p.(*overview)
	if !ok {
		return nil
	}
	for _, n := range o.Nodes {
		for i := range n.Backends {
			if n.Backends[i].ID == id {
				return &n.Backends[i]
			}
		}
	}
	return nil
}

// sentenceOf returns a report as one text.
func sentenceOf(report fleet.Report, err error) (string, error) {
	text := strings.TrimSpace(report.Text())
	if err != nil && text != "" {
		_, sentence := fleet.Explain(err)
		return "", fleet.NewError(fleet.Degraded, text+"; "+sentence, err)
	}
	return text, err
}

// checkTop is CheckConsequences without the hint at --force, which top has not.
func (a *app) checkTop(ctx context.Context, change api.ConsequenceRequest) (context.Context, error) {
	safe, err := a.CheckConsequences(ctx, false, change)
	if err == nil {
		return safe, nil
	}
	code, sentence := fleet.Explain(err)
	return nil, fleet.NewError(code, strings.TrimSuffix(sentence, "; add --force to continue"), err)
}

func drainPrompt(p screen.Picture, id string) string {
	if b := backendOf(p, id); b == nil || b.Drain != nil {
		return ""
	}
	return "reason to drain " + id + " (optional): "
}

func (a *app) topDrain(ctx context.Context, b *api.Backend, reason string) (string, screen.Change, error) {
	one := []api.Backend{*b}
	if b.Drain != nil {
		return "end the drain of " + b.ID + ".", func(ctx context.Context) (string, error) {
			return sentenceOf(a.Fleet.Change(ctx, func(ctx context.Context, c *api.Client) (string, error) {
				return eachServer(one, func(id string) (string, error) { return undrain(ctx, c, id) })
			}))
		}, nil
	}
	safe, err := a.checkTop(ctx, api.ConsequenceRequest{Backends: []string{b.ID}})
	if err != nil {
		return "", nil, err
	}
	return "drain " + b.ID + ".", func(context.Context) (string, error) {
		req := api.DrainRequest{Reason: reason}
		return sentenceOf(a.Fleet.Change(safe, func(ctx context.Context, c *api.Client) (string, error) {
			return eachServer(one, func(id string) (string, error) {
				drain, err := c.DrainServer(ctx, id, req)
				return drainSentence(req, drain, a.Now()), err
			})
		}))
	}, nil
}

func overridePrompt(p screen.Picture, id string) string {
	if b := backendOf(p, id); b == nil || b.Override != nil {
		return ""
	}
	return "reason to override " + id + " as unhealthy: "
}

func (a *app) topOverride(ctx context.Context, b *api.Backend, reason string) (string, screen.Change, error) {
	if b.Override != nil {
		return a.topClear(ctx, b)
	}
	if reason == "" {
		return "", nil, errors.New("an override requires a reason, for other operators")
	}
	safe, err := a.checkTop(ctx, api.ConsequenceRequest{Backends: []string{b.ID}, Removed: true})
	if err != nil {
		return "", nil, err
	}
	healthy := false
	req := api.OverrideRequest{Healthy: &healthy, Reason: reason, Source: overrideSource}
	return "override " + b.ID + " as unhealthy until the override is cleared.", func(context.Context) (string, error) {
		return sentenceOf(a.Fleet.Change(safe, func(ctx context.Context, c *api.Client) (string, error) {
			o, err := c.SetOverride(ctx, b.Service, endpoint(b.Address, b.Port), req)
			return overrideSentence(o, a.Now()), err
		}))
	}, nil
}

// topClear prepares the removal of the override of a backend, which can be an override of all ports of its address.
func (a *app) topClear(ctx context.Context, b *api.Backend) (string, screen.Change, error) {
	list, err := fleet.First(ctx, a.Fleet, fleet.Call((*api.Client).Overrides))
	if err != nil {
		return "", nil, err
	}
	for _, o := range list.Overrides {
		if !sameName(b.Service, o.Service) || o.Address != endpoint(b.Address, b.Port) && !isAddress(o.Address, b.Address) {
			continue
		}
		question := fmt.Sprintf("clear the override of %s %s: %s.", o.Service, o.Address, o.Reason)
		return question, func(ctx context.Context) (string, error) {
			return sentenceOf(a.Fleet.Change(ctx, func(ctx context.Context, c *api.Client) (string, error) {
				return fmt.Sprintf("the override of %s %s is cleared", o.Service, o.Address),
					c.ClearOverride(ctx, o.Service, o.Address)
			}))
		}, nil
	}
	return "", nil, fmt.Errorf("the override of %s has ended", b.ID)
}

// isAddress reports whether two texts are the same IP address.
func isAddress(text, other string) bool {
	a, err := netip.ParseAddr(text)
	b, err2 := netip.ParseAddr(other)
	return err == nil && err2 == nil && a == b
}

// topUndo prepares the undo of the last change of the user. The undo fails if the user has made another change since.
func (a *app) topUndo(ctx context.Context, _ *api.Backend, _ string) (string, screen.Change, error) {
	found, err := a.findLast(ctx)
	if err != nil {
		return "", nil, err
	}
	question := fmt.Sprintf("undo your last change, %s of %s %s at %s.", found.last.Action, found.last.Resource,
		found.last.ResourceID, cmdline.Zoned(found.last.At, a.Now()))
	return question, func(context.Context) (string, error) {
		latest, err := a.findLast(ctx)
		if err != nil {
			return "", err
		}
		if !latest.equals(found) {
			return "", errors.New("another change was made since: press u again; " + fleet.NothingChanged)
		}
		picture, err := a.Capture(func() error { return a.undoFound(api.IfSafe(ctx), found) })
		if err != nil {
			return "", err
		}
		_, lines := picture.Lines(cmdline.AllTabs)
		return strings.Join(lines, "\n"), nil
	}, nil
}
