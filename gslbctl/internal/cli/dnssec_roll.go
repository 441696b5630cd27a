package cli

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/gslbctl/internal/fleet"
	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/shared/api"
)

func (a *app) dnssecRollsCommand() *cobra.Command {
	return a.Listing(&cobra.Command{
		Use:   "rolls",
		Short: "Show the progress of key rollovers",
		RunE:  func(cmd *cobra.Command, _ []string) error { return a.dnssecRolls(cmd.Context()) },
	})
}

// nodeRoll is a roll as one node sees it.
type nodeRoll struct {
	Node string `json:"node"`
	api.Roll
}

func (a *app) dnssecRolls(ctx context.Context) error {
	g, err := fleet.Gather(ctx, a.Fleet, fleet.Call((*api.Client).Rolls))
	if err != nil {
		return err
	}
	list := []nodeRoll{}
	for _, r := range g.Answers {
		for _, one := range r.Value.Rolls {
			list = append(list, nodeRoll{r.Node, one})
		}
	}
	slices.SortStableFunc(list, func(a, b nodeRoll) int { return strings.Compare(a.Zone, b.Zone) })
	return g.Done(a.List(list, a.rollsTable(list)))
}

func (a *app) rollsTable(list []nodeRoll) *render.Table {
	t := &render.Table{Columns: []render.Column{{Name: "ZONE"}, {Name: "NODE"}, {Name: "STAGE"}, {Name: "SINCE"},
		{Name: "NEW KEY", Right: true}, {Name: "OLD KEYS"}, {Name: "NEXT"}, {Name: "WAITS FOR"}},
		Empty: "There are no key rollovers and no signing transitions; gslbctl dnssec roll ZONE starts a rollover."}
	for _, r := range list {
		key := number(r.KeyTag)
		if isWay(&r.Roll) {
			key = render.C("goes " + string(r.Way))
		}
		t.AddNamed(r.Zone, render.C(r.Zone), render.C(r.Node), render.C(string(r.Stage)), a.Ago(&r.Since),
			key, orNone(strings.Join(each(r.OldKeys, strconv.Itoa), ", ")), orNone(a.nextStage(&r.Roll)),
			orNone(cmdline.ValueOf(r.WaitsFor)))
	}
	return t
}

// nextStage returns the next stage of a rollover and, if known, its time, such as "offered in 1h5m". In the last stage
// it returns "".
func (a *app) nextStage(r *api.Roll) string {
	switch {
	case len(r.Schedule) == 0:
		return ""
	case r.WaitsUntil == nil:
		return string(r.Schedule[0].Stage)
	case !r.WaitsUntil.After(a.Now()):
		return string(r.Schedule[0].Stage) + " now"
	}
	return string(r.Schedule[0].Stage) + " " + render.Until(*r.WaitsUntil, a.Now())
}

// rollOptions are the flags of dnssec roll.
type rollOptions struct {
	status, cancel, confirm, emergency, takeOver, now, force, dryRun, yes bool
	ksk, zsk                                                              bool // rejected, with the reason
	algorithm                                                             string
}

func (a *app) dnssecRollCommand() *cobra.Command {
	var o rollOptions
	cmd := &cobra.Command{
		Use:     "roll [zone]",
		Aliases: []string{"rollover", "rotate"},
		Short:   "Roll over the signing key of a zone",
		Long: "A zone has one key, which signs all its records (no separate KSK and ZSK), so that each rollover\n" +
			"changes the DS record in the parent zone.\n\n" +
			"roll creates a new signing key for a zone on one node. All nodes follow the stages of the rollover:\n" +
			"publish the key, offer it to the parent zone with CDS records, sign with it only once the parent has\n" +
			"its DS record, and remove the old key. Each stage lasts until the data of the previous stage has\n" +
			"expired in all resolvers, so no answer is ever bogus. The rollover continues automatically; `gslbctl\n" +
			"dnssec rolls` shows its progress.\n\n" +
			"If the parent zone does not read CDS records, give it the record of `gslbctl dnssec ds` at the stage\n" +
			"\"offered\", and remove the old record.",
		Example:           "  gslbctl dnssec roll example.com\n  gslbctl dnssec roll example.com --cancel",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: a.CompleteArguments(signedZones),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case o.ksk || o.zsk:
				return errors.New("--ksk and --zsk do not exist: a zone has one key, which signs all its records; " +
					"gslbctl dnssec roll ZONE replaces this key and changes the DS record of the zone")
			case o.status || len(args) == 0 && !o.cancel && !o.confirm && !o.emergency && !o.takeOver && !o.now &&
				!o.force && !o.dryRun:
				return a.dnssecRolls(cmd.Context())
			case len(args) == 0:
				return errors.New("name the zone, such as: gslbctl dnssec roll example.com --cancel")
			case o.takeOver && !o.emergency:
				return errors.New("--take-over replaces a change by an emergency change: add --emergency")
			case o.force:
				return a.dnssecForce(cmd.Context(), args[0], o.dryRun, o.yes)
			}
			return a.dnssecRoll(cmd.Context(), args[0], o)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&o.status, "status", false, "show the progress and change nothing, as gslbctl dnssec rolls")
	flags.BoolVar(&o.cancel, "cancel", false,
		"cancel the rollover or transition: the old key replaces the new key in the same stages; also for a zone "+
			"that becomes unsigned")
	flags.BoolVar(&o.confirm, "confirm", false,
		"confirm that the parent has only the new DS record, or no DS record of a zone that becomes unsigned, if "+
			"the nodes cannot query the parent")
	flags.BoolVar(&o.emergency, "emergency", false,
		"use the fastest rollover that keeps the chain of trust valid, for a compromised key")
	flags.BoolVar(&o.takeOver, "take-over", false,
		"with --emergency: replace a running rollover: a new key replaces all other keys")
	flags.BoolVar(&o.now, "now", false,
		"no effect: a rollover always starts immediately")
	flags.BoolVar(&o.force, "force", false,
		"continue the current stage without silent nodes; first prints these nodes and the risks")
	flags.BoolVar(&o.dryRun, "dry-run", false, "show the earliest time of each stage, change nothing")
	cmdline.YesFlag(cmd, &o.yes)
	flags.StringVar(&o.algorithm, "algorithm", "",
		"`algorithm` of the new key, ECDSAP256SHA256 or ED25519 (default from the configuration)")
	for name, given := range map[string]*bool{"ksk": &o.ksk, "zsk": &o.zsk} {
		flags.BoolVar(given, name, false, "does not exist: a zone has one key")
		flags.Lookup(name).Hidden = true
	}
	cmdline.Offer(cmd, "algorithm", []string{"ECDSAP256SHA256", "ED25519"})
	cmd.MarkFlagsMutuallyExclusive("status", "cancel", "confirm", "emergency", "force")
	for _, other := range []string{"status", "cancel", "confirm"} {
		cmd.MarkFlagsMutuallyExclusive(other, "now")
		cmd.MarkFlagsMutuallyExclusive(other, "dry-run")
	}
	cmd.MarkFlagsMutuallyExclusive("force", "now")
	return cmd
}

// signedZones lists the zones with keys, for completion.
func signedZones(ctx context.Context, c *api.Client) ([]string, error) {
	list, err := c.DNSSECStatus(ctx)
	return slices.Compact(each(list.Keys, func(k api.DNSSECKeyUse) string {
		return strings.TrimSuffix(k.Zone, ".")
	})), err
}

// dnssecRoll starts, cancels or confirms a rollover on one node. Then it makes the other nodes fetch the rollover from
// this node.
func (a *app) dnssecRoll(ctx context.Context, zone string, o rollOptions) error {
	wanted := api.RollCreate{Zone: zone, Emergency: o.emergency, TakeOver: o.takeOver, Algorithm: o.algorithm}
	if !o.cancel && !o.confirm {
		if err := a.previewRoll(ctx, wanted, o.dryRun); err != nil || o.dryRun {
			return err
		}
	}
	if o.emergency {
		if err := a.Confirm(ctx, o.yes, "The old key of "+zone+" is out of use as soon as the chain of trust "+
			"allows, and a parent that is late delays it"); err != nil {
			return err
		}
	}
	done, err := fleet.ChangeFirst(ctx, a.Fleet, func(ctx context.Context, c *api.Client) (api.Roll, error) {
		switch {
		case o.cancel:
			return c.CancelRoll(ctx, zone)
		case o.confirm:
			return c.ConfirmRoll(ctx, zone)
		}
		return c.BeginRoll(ctx, wanted)
	})
	if err != nil {
		return err
	}
	return a.syncAndPrint(ctx, &done)
}

// previewRoll prints the earliest time of each stage of a rollover. only means --dry-run: a failure is an error, and
// the preview is also available as JSON or YAML. Otherwise it prints only text.
func (a *app) previewRoll(ctx context.Context, wanted api.RollCreate, only bool) error {
	if !only && !a.ForPeople() {
		return nil
	}
	preview, err := fleet.First(ctx, a.Fleet, func(ctx context.Context, c *api.Client) (api.Roll, error) {
		return c.PreviewRoll(ctx, wanted)
	})
	switch {
	case err == nil:
		return a.Print(preview, func() string { return a.scheduleText(&preview) })
	case only:
		return err
	}
	return nil // the rollover will report the same failure
}
