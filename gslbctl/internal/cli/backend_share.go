package cli

import (
	"fmt"
	"strconv"
	"strings"

	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/shared/api"
)

// nameShares returns the share of each backend in its name, by id: its weight as a part of the weight of all backends
// that serve the name in the same address family. If all of them have the weight 0, their shares are equal. A backend
// that does not serve has the share 0. Routing policies that ignore weights give other shares.
func nameShares(all []api.Backend) map[string]float64 {
	type pool struct {
		service string
		six     bool
	}
	poolOf := func(b api.Backend) pool { return pool{b.Service, strings.Contains(b.Address, ":")} }
	addresses := map[string]int{} // of a host name that serve
	for _, b := range all {
		if b.MayServe && b.Target != "" {
			addresses[hostKey(b)]++
		}
	}
	parts, total, serving := map[string]float64{}, map[pool]float64{}, map[pool]int{}
	for _, b := range all {
		if !b.MayServe {
			continue
		}
		part := float64(weight(b)) * b.Share / float64(max(1, addresses[hostKey(b)]))
		parts[b.ID] = part
		total[poolOf(b)] += part
		serving[poolOf(b)]++
	}
	shares := make(map[string]float64, len(all))
	for _, b := range all {
		switch p := poolOf(b); {
		case !b.MayServe:
			shares[b.ID] = 0
		case total[p] == 0:
			shares[b.ID] = 1 / float64(serving[p])
		default:
			shares[b.ID] = parts[b.ID] / total[p]
		}
	}
	return shares
}

// hostKey identifies the addresses of one family that share the weight of a host name.
func hostKey(b api.Backend) string {
	return fmt.Sprintf("%s %s %d %v", b.Service, b.Target, b.Port, strings.Contains(b.Address, ":"))
}

// weight returns the weight of an operator, else the declared weight.
func weight(b api.Backend) int {
	if b.WeightOverride != nil {
		return b.WeightOverride.Weight
	}
	return b.Weight
}

// weightCell returns the effective weight: an operator's weight with the declared weight in brackets, and the used part
// of the weight, as in "50 x 25%", during a drain or an early warning.
func weightCell(b api.Backend) render.Cell {
	c := declaredWeightCell(b.Weight, b.WeightOverride)
	if b.Share < 1 {
		c.Text, c.Tone = c.Text+" x "+wholePercent(b.Share).Text, render.Warn
	}
	return c
}

// declaredWeightCell returns a declared weight, or an operator's weight with the declared weight in brackets.
func declaredWeightCell(declared int, override *api.ActiveWeight) render.Cell {
	if override == nil {
		return number(declared)
	}
	return render.Cell{Text: fmt.Sprintf("%d (%d)", override.Weight, declared), Tone: render.Warn}
}

// wholePercent returns a cell with a part as a percentage without decimals.
func wholePercent(part float64) render.Cell {
	return render.C(strconv.FormatFloat(100*part, 'f', 0, 64) + "%")
}
