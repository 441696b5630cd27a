package impact

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"gslb.internal/overwatch/internal/answer/explain"
	"gslb.internal/overwatch/internal/control/fault"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/policy"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/shared/api"
	"gslb.internal/shared/check"
	"gslb.internal/shared/wire"
)

// Withdrawal is a set of backends that a change removes or prevents from serving, and the effect of the change on their
// candidates.
type Withdrawal struct {
	Service string                       // of the backends; empty: any service
	Takes   func(*registry.Backend) bool // reports whether a backend is in the set
	Alter   func(*policy.Candidate) bool // applies the change to a candidate, as explain.IfChanged requires
	Answer  api.ConsequenceAnswer        // answer of names that lose the backends; empty: as decided
}

// Remove removes a candidate, for a change that deletes the backend.
func Remove(*policy.Candidate) bool { return false }

// Forbid excludes a candidate from answers, including fallback answers. The override unhealthy has this effect.
func Forbid(c *policy.Candidate) bool {
	c.MayServe, c.Forbidden = false, true
	return true
}

// OfServer returns the Withdrawal of the backend of a server.
func OfServer(id registry.ID) Withdrawal {
	return Withdrawal{id.Service, func(b *registry.Backend) bool { return b.ID == id }, Remove, ""}
}

// DependsOnAgent reports whether a backend serves only because of agent reports.
func DependsOnAgent(b *registry.Backend, agentID string) bool {
	return b.AgentID == agentID && (b.Source == api.SourceAgent || b.OwnCheck.State != check.StateHealthy)
}

// OfAgents returns the Withdrawal of the backends that depend on any of the agents.
func OfAgents(ids ...string) Withdrawal {
	return Withdrawal{"", func(b *registry.Backend) bool {
		return slices.ContainsFunc(ids, func(id string) bool { return DependsOnAgent(b, id) })
	}, Remove, ""}
}

// OfTarget returns the Withdrawal of the addresses of a server with a host name.
func OfTarget(id definitions.TargetID) Withdrawal {
	return Withdrawal{id.Service, func(b *registry.Backend) bool { return IsAddressOf(b, id) }, Remove, ""}
}

// OfRegion returns the Withdrawal of the backends in a region.
func OfRegion(name string) Withdrawal {
	return Withdrawal{"", func(b *registry.Backend) bool { return b.Region == name }, explain.MarkDrained, ""}
}

// OfDomain returns the Withdrawal of all backends of a domain, for a change that disables the domain.
func OfDomain(name string) Withdrawal {
	return Withdrawal{wire.CanonicalService(name), func(*registry.Backend) bool { return true }, Remove, api.AnswerNone}
}

// Sentence describes the losses of at most ten names, and the number of further names.
func Sentence(names []api.Consequence) string {
	const shown = 10
	var parts []string
	for _, n := range names[:min(len(names), shown)] {
		parts = append(parts, fmt.Sprintf("%s would be left with %d of at least %d backends (%s: %s)", n.Name,
			n.Serving,
			n.Minimum, strings.Join(n.QueryTypes, " and "), strings.ReplaceAll(string(n.Answer), "_", " ")))
	}
	if more := len(names) - shown; more > 0 {
		parts = append(parts, fmt.Sprintf("and %d more names", more))
	}
	return strings.Join(parts, "; ")
}

// Losses returns the sorted names that would have too few backends without the backends of g. It uses the published
// view after all earlier changes.
func (a *Assessor) Losses(ctx context.Context, g Withdrawal) ([]api.Consequence, error) {
	if err := a.o.Flush(ctx); err != nil {
		return nil, err
	}
	gone := map[string]map[netip.AddrPort]bool{}
	backends := a.o.View.Backends()
	if g.Service != "" {
		backends = slices.Values(a.o.View.Service(g.Service))
	}
	for b := range backends {
		if !g.Takes(b) {
			continue
		}
		if gone[b.Service] == nil {
			gone[b.Service] = map[netip.AddrPort]bool{}
		}
		gone[b.Service][netip.AddrPortFrom(b.Address, b.Port)] = true
	}
	names := []api.Consequence{}
	for _, name := range slices.Sorted(maps.Keys(gone)) {
		loss, loses, err := explain.IfChanged(a.o.DNSView(), name, func(c *policy.Candidate) bool {
			switch {
			case gone[name][netip.AddrPortFrom(c.Address, c.Port)]:
				return g.Alter(c)
			case g.Answer == api.AnswerZeroWeight && c.Weight == 0: // the weight is already 0
				return explain.MarkDrained(c)
			}
			return true
		})
		if err != nil {
			return nil, err
		}
		if loses {
			one := consequence(name, loss)
			if g.Answer != "" {
				one.Answer = g.Answer
			}
			names = append(names, one)
		}
	}
	return names, nil
}

func consequence(name string, loss explain.Loss) api.Consequence {
	c := api.Consequence{Name: name, Answer: api.AnswerLastResort, Serving: loss.Serving, Minimum: loss.Minimum}
	if loss.Outcome == policy.NoHealthyBackend {
		c.Answer = api.AnswerNone
	}
	for _, family := range loss.Families {
		c.QueryTypes = append(c.QueryTypes, family.QueryType())
	}
	return c
}

// Check rejects a change that would leave names with too few backends.
func (a *Assessor) Check(ctx context.Context, g Withdrawal) error {
	names, err := a.Losses(ctx, g)
	if err != nil {
		return err
	}
	return Unsafe(names)
}

// Unsafe returns the rejection of a change with losses, or nil without losses.
func Unsafe(losses []api.Consequence) error {
	if len(losses) == 0 {
		return nil
	}
	err := fault.Conflictf("nothing was changed: %s", Sentence(losses))
	err.Names = losses
	return err
}

// AddressesOf yields the backends that are addresses of an API server with a host name.
func AddressesOf(view *registry.View, id definitions.TargetID) iter.Seq[*registry.Backend] {
	return func(yield func(*registry.Backend) bool) {
		for _, b := range view.Service(id.Service) {
			if IsAddressOf(b, id) && !yield(b) {
				return
			}
		}
	}
}

// IsAddressOf reports whether a backend is an address of an API server with a host name.
func IsAddressOf(b *registry.Backend, id definitions.TargetID) bool {
	part := b.Host()
	return part.FromAPI && part.Name == id.Name && b.Port == id.Port && b.Service == id.Service
}
