package cli

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"gslb.internal/gslbctl/internal/chain"
	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/gslbctl/internal/fleet"
	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/shared/api"
)

// checkedZone is the verdict on one server's answers for a zone, with advice on key changes.
type checkedZone struct {
	chain.Finding
	Advice []zoneAdvice `json:"advice,omitempty"`
}

// asTold reports whether a zone is unsigned because an operator has stopped signing it.
func (z *checkedZone) asTold() bool {
	return z.Verdict == chain.Insecure && slices.ContainsFunc(z.Advice, func(one zoneAdvice) bool {
		return one.Act == api.RollSign
	})
}

// zoneAdvice is the advice of a node about one key change.
type zoneAdvice struct {
	api.RollAdvice
	what string // the key change, for people
}

// advice returns the possible key changes by zone, and whether each change is safe now. The data is from the node with
// the least progress in its rollover. advice returns nil if no nodes are configured.
func (a *app) advice(ctx context.Context, zones []string, keys []api.DNSSECKey) map[string][]zoneAdvice {
	replies, err := fleet.AskAll(ctx, a.Fleet, fleet.Asking, fleet.Call((*api.Client).Rolls))
	if err != nil {
		return nil
	}
	all, asked := map[string][]zoneAdvice{}, false
	stage := map[string]api.RollStage{}
	order := []api.RollStage{api.RollSigning, api.RollPublished, api.RollOffered, api.RollAlone, api.RollUnsigned,
		api.RollDone}
	for _, r := range replies {
		asked = asked || r.Err == nil && r.Value.Enabled
		ways := map[string]bool{}
		for _, roll := range r.Value.Rolls {
			ways[roll.Zone] = ways[roll.Zone] || isWay(&roll) && (roll.Stage != api.RollDone || staysUnsigned(&roll))
		}
		for _, roll := range r.Value.Rolls {
			last, known := stage[roll.Zone]
			switch {
			case ways[roll.Zone] && !isWay(&roll), roll.Stage == api.RollDone && !staysUnsigned(&roll),
				known && slices.Index(order, last) <= slices.Index(order, roll.Stage):
				continue
			}
			stage[roll.Zone] = roll.Stage
			all[roll.Zone] = nil
			for _, one := range roll.Advice {
				all[roll.Zone] = append(all[roll.Zone], zoneAdvice{one, actOf(one.Act, &roll)})
			}
			if staysUnsigned(&roll) {
				all[roll.Zone] = append(all[roll.Zone], zoneAdvice{api.RollAdvice{Act: api.RollSign, Safe: true},
					"gslbctl dnssec sign " + strings.TrimSuffix(roll.Zone, ".")})
			}
		}
	}
	for _, zone := range zones {
		if _, rolls := stage[zone]; asked && !rolls {
			all[zone] = adviseIdle(zone, keys)
		}
	}
	return all
}

// adviseIdle returns the possible key changes of a zone without a rollover.
func adviseIdle(zone string, keys []api.DNSSECKey) []zoneAdvice {
	reason := "no other key is published, and no answer would validate"
	replace, remove := "to give the parent a DS record of another key", "to take its key away"
	var tags []string
	for _, k := range keys {
		if k.Zone == zone {
			tags = append(tags, strconv.Itoa(k.KeyTag))
		}
	}
	if len(tags) > 1 {
		replace, remove = "to take a DS record out of the parent", "to take one of its keys away"
		reason = "the zone has the keys " + strings.Join(tags, ", ") + ", and resolvers may hold records with only " +
			"one of these keys"
	}
	return []zoneAdvice{
		{api.RollAdvice{Act: api.RollReplaceDS, Reason: &reason}, replace},
		{api.RollAdvice{Act: api.RollRemoveKey, Reason: &reason}, remove},
		{api.RollAdvice{Act: api.RollBegin, Safe: true}, "gslbctl dnssec roll " + strings.TrimSuffix(zone, ".")},
	}
}

func actOf(act api.RollAct, r *api.Roll) string {
	switch act {
	case api.RollReplaceDS:
		if isWay(r) {
			return "to give the parent a DS record"
		}
		return fmt.Sprintf("to give the parent the DS record of key %d and take all others out", r.KeyTag)
	case api.RollRemoveDS:
		return "to take all DS records out of the parent"
	case api.RollRemoveKey:
		return "to take key " + strings.Join(each(r.OldKeys, strconv.Itoa), ", ") + " away from the nodes"
	}
	return "gslbctl dnssec roll " + strings.TrimSuffix(r.Zone, ".") + " --cancel"
}

// adviceLines returns, for each zone, the changes that are safe now and the time when the other changes become safe.
func (a *app) adviceLines(list []checkedZone) (lines []string) {
	for i, z := range list {
		if i > 0 && list[i-1].Zone == z.Zone {
			continue
		}
		for _, one := range z.Advice {
			line := "Safe now"
			if !one.Safe {
				line = "Not safe now"
				if one.Until != nil {
					line = "Not safe before " + a.clock(*one.Until)
				}
			}
			line += " for " + z.Zone + ": " + one.what
			if one.Reason != nil {
				line += ": " + *one.Reason
			}
			lines = append(lines, line)
		}
	}
	return lines
}

// clock formats a future time in local time.
func (a *app) clock(at time.Time) string {
	layout := "15:04"
	if here := at.Local(); here.YearDay() != a.Now().Local().YearDay() || here.Sub(a.Now()) > 24*time.Hour {
		layout = "2006-01-02 15:04"
	}
	return at.Local().Format(layout) + " (" + render.Until(at, a.Now()) + ")"
}

// scheduleText returns the next stages of a rollover.
func (a *app) scheduleText(r *api.Roll) string {
	t := &render.Table{Columns: []render.Column{{Name: "STAGE"}, {Name: "NOT BEFORE"}, {Name: "WAITS FOR"}}}
	for _, step := range r.Schedule {
		t.Add(render.C(string(step.Stage)), render.C(a.clock(step.NotBefore)), orNone(cmdline.ValueOf(step.WaitsFor)))
	}
	return a.Text(t)
}
