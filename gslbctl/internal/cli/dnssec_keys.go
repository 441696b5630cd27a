package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/gslbctl/internal/fleet"
	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/shared/api"
)

// maxDifferences bounds the differences between nodes in one sentence.
const maxDifferences = 5

func (a *app) dnssecKeysCommand() *cobra.Command {
	return a.Listing(&cobra.Command{
		Use:               "keys [<zone>]",
		Short:             "List the public signing keys of all nodes; exit code 1 if nodes have different keys",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: a.CompleteArguments(signedZones),
		RunE: func(cmd *cobra.Command, args []string) error {
			g, err := fleet.Gather(cmd.Context(), a.Fleet, fleet.Call((*api.Client).DNSSECKeys))
			if err != nil {
				return err
			}
			list, different := joinKeys(g.Answers)
			if len(args) > 0 {
				list.Keys = slices.DeleteFunc(list.Keys, func(k api.DNSSECKey) bool {
					return !sameName(strings.TrimSuffix(args[0], "."), k.Zone)
				})
			}
			t := &render.Table{
				Columns: []render.Column{{Name: "ZONE"}, {Name: "KEY", Right: true}, {Name: "STAGE"},
					{Name: "ALGORITHM"},
					{Name: "CREATED"}, {Name: "MADE BY"}, {Name: "PUBLIC KEY"}},
				Empty: notSigned,
			}
			for _, k := range list.Keys {
				t.AddNamed(strconv.Itoa(k.KeyTag), render.C(k.Zone), number(k.KeyTag), render.C(string(k.Stage)),
					render.C(strconv.Itoa(k.Algorithm)+" "+k.AlgorithmName),
					a.Ago(&k.CreatedAt), orNone(k.OriginNode), render.C(k.PublicKey))
			}
			if err := a.List(list, cmdline.SuggestIfEmpty(cmd, t)); err != nil {
				return err
			}
			return g.Done(differentKeys(different))
		},
	})
}

// joinKeys returns the keys of all nodes, each key once, and a sentence for each difference between the nodes, with the
// name of the node.
func joinKeys(replies []fleet.Answer[api.DNSSECKeys]) (list api.DNSSECKeys, different []string) {
	list.Keys = []api.DNSSECKey{}
	has := func(keys []api.DNSSECKey, k *api.DNSSECKey) bool {
		return slices.ContainsFunc(keys, func(o api.DNSSECKey) bool {
			return o.Zone == k.Zone && o.KeyTag == k.KeyTag && o.PublicKey == k.PublicKey
		})
	}
	for _, r := range replies {
		list.Enabled = list.Enabled || r.Value.Enabled
		for i := range r.Value.Keys {
			if k := &r.Value.Keys[i]; !has(list.Keys, k) {
				list.Keys = append(list.Keys, *k)
			}
		}
	}
	slices.SortStableFunc(list.Keys, func(a, b api.DNSSECKey) int { return cmp.Compare(a.Zone, b.Zone) })
	for _, r := range replies {
		for i := range list.Keys {
			if k := &list.Keys[i]; !has(r.Value.Keys, k) {
				different = append(different, fmt.Sprintf("%s lacks key %d of %s", r.Node, k.KeyTag, k.Zone))
			}
		}
	}
	return list, different
}

// joinDS returns the DS records of all nodes, each record once, and sentences about the differences between the nodes.
func joinDS(replies []fleet.Answer[api.DSRecords]) (list api.DSRecords, different []string) {
	list.DSRecords, list.NoDS = []api.DSRecord{}, []string{}
	for _, r := range replies {
		list.Enabled = list.Enabled || r.Value.Enabled
		list.Warning = cmp.Or(list.Warning, r.Value.Warning)
		for _, ds := range r.Value.DSRecords {
			if !slices.Contains(list.DSRecords, ds) {
				list.DSRecords = append(list.DSRecords, ds)
			}
		}
		list.NoDS = append(list.NoDS, r.Value.NoDS...)
	}
	slices.SortStableFunc(list.DSRecords, func(a, b api.DSRecord) int { return cmp.Compare(a.Zone, b.Zone) })
	slices.Sort(list.NoDS)
	list.NoDS = slices.Compact(list.NoDS)
	for _, r := range replies {
		for _, ds := range list.DSRecords {
			if !slices.Contains(r.Value.DSRecords, ds) {
				different = append(different, fmt.Sprintf("%s does not offer the DS record of key %d of %s", r.Node,
					ds.KeyTag,
					ds.Zone))
			}
		}
	}
	return list, different
}

// keyDifferences requests the keys of all nodes and returns the differences between them.
func (a *app) keyDifferences(ctx context.Context) ([]string, error) {
	g, err := fleet.Gather(ctx, a.Fleet, fleet.Call((*api.Client).DNSSECKeys))
	if err != nil {
		return nil, err
	}
	_, different := joinKeys(g.Answers)
	return different, nil
}

// differentKeys returns an error that lists the key differences between nodes, or nil if there are none.
func differentKeys(different []string) error {
	if len(different) == 0 {
		return nil
	}
	more := ""
	if n := len(different) - maxDifferences; n > 0 {
		different, more = different[:maxDifferences], fmt.Sprintf("; and %d more", n)
	}
	named := strings.Join(different, "; ") + more
	return &fleet.Error{Code: fleet.Degraded, Message: "the nodes have different keys: " + named +
		": give the parent no record before they agree; gslbctl dnssec sync exchanges keys now, gslbctl dnssec " +
		"rolls shows changes"}
}
