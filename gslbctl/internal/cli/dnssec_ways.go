package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/gslbctl/internal/fleet"
	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/shared/api"
)

func (a *app) dnssecUnsignCommand() *cobra.Command {
	return a.wayCommand(&cobra.Command{
		Use:   "unsign zone",
		Short: "Stop signing a zone (signed to unsigned)",
		Long: "unsign starts the transition of a zone to unsigned on all nodes. The zone stays signed and requests\n" +
			"with CDS records that its parent removes all DS records. If the parent does not read CDS records,\n" +
			"remove the DS records there. When the DS records have expired in all caches, the nodes serve the\n" +
			"zone unsigned, even after a restart. The nodes keep the keys. `gslbctl dnssec sign` signs the zone\n" +
			"again, and `gslbctl dnssec roll ZONE --cancel` cancels the transition.",
		Example: "  gslbctl dnssec unsign example.com --dry-run\n  gslbctl dnssec unsign example.com",
	}, api.RollToUnsigned)
}

func (a *app) dnssecSignCommand() *cobra.Command {
	return a.wayCommand(&cobra.Command{
		Use:   "sign zone",
		Short: "Start signing a zone (unsigned to signed)",
		Long: "sign starts the transition of a zone to signed on all nodes. The nodes sign the zone immediately,\n" +
			"with its previous keys. The zone offers DS records to its parent when unsigned answers have expired\n" +
			"in all caches. If the parent does not read CDS records, give it the records of `gslbctl dnssec ds`\n" +
			"at that time.",
		Example: "  gslbctl dnssec sign example.com",
	}, api.RollToSigned)
}

// wayCommand adds arguments, flags and action to a command for the transition way of a zone: to signed or to unsigned.
func (a *app) wayCommand(cmd *cobra.Command, way api.RollWay) *cobra.Command {
	var dryRun, yes bool
	cmd.Args = cobra.ExactArgs(1)
	cmd.ValidArgsFunction = a.CompleteArguments(signedZones)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return a.dnssecWay(cmd.Context(), args[0], way, dryRun, yes)
	}
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "show the earliest time of each stage, change nothing")
	if way == api.RollToUnsigned {
		cmdline.YesFlag(cmd, &yes)
	}
	return cmd
}

// dnssecWay prints the earliest time of each stage, and starts the transition of a zone on one node. Then it makes the
// other nodes fetch the transition from this node. With dryRun it only prints the times.
func (a *app) dnssecWay(ctx context.Context, zone string, way api.RollWay, dryRun, yes bool) error {
	preview := func(ctx context.Context, c *api.Client) (api.Roll, error) { return c.PreviewWay(ctx, zone, way) }
	if dryRun || a.ForPeople() {
		coming, err := fleet.First(ctx, a.Fleet, preview)
		if err == nil {
			err = a.Print(coming, func() string { return a.scheduleText(&coming) })
		}
		if err != nil || dryRun {
			return err
		}
	}
	begin := (*api.Client).SignZone
	if way == api.RollToUnsigned {
		begin = (*api.Client).UnsignZone
		if err := a.Confirm(ctx, yes, "Without signatures, resolvers accept forged answers of "+zone+
			" until it is signed"); err != nil {
			return err
		}
	}
	done, err := fleet.ChangeFirst(ctx, a.Fleet, func(ctx context.Context, c *api.Client) (api.Roll, error) {
		return begin(c, ctx, zone)
	})
	if err != nil {
		return err
	}
	return a.syncAndPrint(ctx, &done)
}

// syncAndPrint makes all nodes exchange their key states immediately, and prints the rollover.
func (a *app) syncAndPrint(ctx context.Context, r *api.Roll) error {
	// A node that misses this request fetches the keys later.
	if _, err := fleet.AskAll(ctx, a.Fleet, "telling %s", fleet.Call((*api.Client).SyncDNSSEC)); err != nil {
		return err
	}
	return a.Print(r, func() string {
		where := fmt.Sprintf("rolls to key %d", r.KeyTag)
		if isWay(r) {
			where = "goes " + string(r.Way)
		}
		text := fmt.Sprintf("%s %s: it is %s.", r.Zone, where, r.Stage)
		if next := a.nextStage(r); next != "" {
			text += " Next: " + next
			if r.WaitsFor != nil {
				text += "; it waits for this: " + *r.WaitsFor
			}
			text += "."
		}
		return render.Printable(text+" See the stage of each node: gslbctl dnssec rolls") + "\n"
	})
}

// isWay reports whether a rollover is a transition to signed or unsigned.
func isWay(r *api.Roll) bool { return r.Way == api.RollToUnsigned || r.Way == api.RollToSigned }

// staysUnsigned reports whether a transition to unsigned is complete.
func staysUnsigned(r *api.Roll) bool { return r.Way == api.RollToUnsigned && r.Stage == api.RollDone }
