package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/gslbctl/internal/fleet"
	"gslb.internal/shared/api"
)

// selectBackends returns the backends that a text selects. It uses the first meaning of the text that selects a
// backend; an id has precedence.
func selectBackends(text string, known []api.Backend) []api.Backend {
	readings := []func(api.Backend) bool{func(b api.Backend) bool { return b.ID == text }}
	for _, name := range backendNames(text) {
		readings = append(readings, name.matches)
	}
	for _, means := range readings {
		if found := filtered(known, means); len(found) > 0 {
			return found
		}
	}
	return nil
}

// filtered returns the backends for which keep returns true, each id once.
func filtered(list []api.Backend, keep func(api.Backend) bool) (found []api.Backend) {
	listed := map[string]bool{}
	for _, b := range list {
		if !listed[b.ID] && keep(b) {
			listed[b.ID] = true
			found = append(found, b)
		}
	}
	return found
}

// knownBackends sends the request list to all nodes and returns the backends of all answers. A backend that several
// nodes return appears once for each node. Draining is true if the backend drains on any node. If no node answers,
// knownBackends returns the error of the first node.
func (a *app) knownBackends(ctx context.Context, list fleet.Request[api.BackendList]) ([]api.Backend, error) {
	replies, err := fleet.AskAll(ctx, a.Fleet, fleet.Asking, list)
	if err != nil {
		return nil, err
	}
	var all []api.Backend
	var failed []error
	draining := map[string]bool{}
	for _, r := range replies {
		if r.Err != nil {
			failed = append(failed, r.Err)
		}
		all = append(all, r.Value.Backends...)
		for _, b := range r.Value.Backends {
			draining[b.ID] = draining[b.ID] || b.Draining
		}
	}
	if len(failed) == len(replies) {
		return nil, failed[0]
	}
	for i := range all {
		all[i].Draining = draining[all[i].ID]
	}
	return all, nil
}

// lookUpBackends sends the request list to all nodes and returns the backends that a text selects. It returns an error
// if the text selects no backend.
func (a *app) lookUpBackends(ctx context.Context, text string, list fleet.Request[api.BackendList]) ([]api.Backend,
	error) {
	all, err := a.knownBackends(ctx, list)
	if err != nil {
		return nil, err
	}
	found := selectBackends(text, all)
	if len(found) == 0 {
		return nil, noBackend(text, all)
	}
	return found, nil
}

// severalBackends returns the error of a name that selects several backends where only one is possible.
func severalBackends(text string, found []api.Backend) error {
	return &fleet.Error{Code: fleet.Degraded, Message: fmt.Sprintf("%q is the address of %d backends; "+
		""+fleet.NothingChanged+
		": use one of the ids %s", text, len(found), strings.Join(allIDs(found), ", "))}
}

// noBackend returns the error of a name that selects no backend, with the ids of similar backends.
func noBackend(text string, known []api.Backend) error {
	sentence := fmt.Sprintf("no node knows a backend %q; "+fleet.NothingChanged, text)
	if near := nearBackends(text, known); len(near) > 0 {
		sentence += "; did you mean " + strings.Join(near, " or ") + "?"
	} else {
		sentence += ": gslbctl backends -o name lists the backends"
	}
	return &fleet.Error{Code: fleet.Degraded, Message: sentence}
}

// nearBackends returns the ids of at most maxNearest backends with the same address as a name, or a similar address.
func nearBackends(text string, known []api.Backend) []string {
	for _, name := range backendNames(text) {
		atAddress := backendName{address: name.address}
		if found := filtered(known, atAddress.matches); len(found) > 0 {
			return allIDs(found[:min(len(found), cmdline.MaxNearest)])
		}
	}
	var spellings []string
	byText := map[string][]string{} // ids by text
	for _, b := range known {
		for _, spelling := range []string{b.Address, endpoint(b.Address, b.Port)} {
			if byText[spelling] == nil {
				spellings = append(spellings, spelling)
			}
			byText[spelling] = append(byText[spelling], b.ID)
		}
	}
	var found []string
	for _, near := range cmdline.NearestNames(text, spellings) {
		found = append(found, byText[near]...)
	}
	found = slices.Compact(slices.Sorted(slices.Values(found)))
	return found[:min(len(found), cmdline.MaxNearest)]
}

// backendsOf returns the backends that a name selects. It returns none if no node answers.
func (a *app) backendsOf(ctx context.Context, name backendName) ([]api.Backend, error) {
	known, err := a.knownBackends(ctx, allBackends)
	return filtered(known, name.matches), err
}

// sameName reports whether a typed name and the name that a node reports are equal.
func sameName(name, written string) bool {
	return strings.EqualFold(name, strings.TrimSuffix(written, "."))
}
