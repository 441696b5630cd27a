package cli

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/gslbctl/internal/fleet"
	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/shared/api"
)

func (a *app) dnssecCommand() *cobra.Command {
	return cmdline.Group("dnssec", "Manage DNSSEC: signing, DS records, key rollovers, backups", a.dnssecStatusCommand(),
		a.dnssecDSCommand(),
		a.dnssecKeysCommand(),
		cmdline.Changing(a.dnssecSyncCommand()), cmdline.Destroying(a.dnssecRollCommand()), a.dnssecRollsCommand(),
		cmdline.Destroying(a.dnssecUnsignCommand()),
		cmdline.Changing(a.dnssecSignCommand()), a.dnssecCheckCommand(),
		cmdline.Reading(a.dnssecBackupCommand()), cmdline.Changing(a.dnssecRestoreCommand()))
}

// notSigned is the text of an empty key table.
const notSigned = "Answers are not signed (overwatch.dnssec.enabled is false)."

func (a *app) dnssecStatusCommand() *cobra.Command {
	return a.Listing(&cobra.Command{
		Use:   "status",
		Short: "Show the DNSSEC status of the zones",
		RunE: func(cmd *cobra.Command, _ []string) error {
			status, err := fleet.First(cmd.Context(), a.Fleet, fleet.Call((*api.Client).DNSSECStatus))
			if err != nil {
				return err
			}
			t := &render.Table{Columns: []render.Column{{Name: "ZONE"}, {Name: "KEY", Right: true}, {Name: "SIGNS"},
				{Name: "STAGE"}, {Name: "AGE"}}, Empty: notSigned}
			for _, k := range status.Keys {
				t.AddNamed(strconv.Itoa(k.KeyTag), render.C(k.Zone), number(k.KeyTag), render.C(render.YesNo(k.Active)),
					orNone(string(k.Stage)), render.C(render.Span(time.Duration(k.AgeSeconds)*time.Second)))
			}
			if a.Output == cmdline.Name {
				return a.List(status, t)
			}
			return a.Print(status, func() string {
				switch off := status.Sync.OffReason; {
				case !status.Sync.Enabled:
					return a.Text(t)
				case off != nil:
					return a.Text(t) + "\nsigning keys are not exchanged with the other nodes: " +
						render.Printable(*off) + "\n"
				}
				return a.Text(t) + "\n" + a.Text(a.peersTable(status.Sync.Peers))
			})
		},
	})
}

func (a *app) dnssecDSCommand() *cobra.Command {
	return a.Listing(&cobra.Command{
		Use: "ds [<zone>]",
		Short: "List the DS records for the parent zones; exit code 1 if there are none, or nodes have different " +
			"keys",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: a.CompleteArguments(signedZones),
		RunE: func(cmd *cobra.Command, args []string) error {
			g, err := fleet.Gather(cmd.Context(), a.Fleet, fleet.Call((*api.Client).DSRecords))
			if err != nil {
				return err
			}
			different, err := a.keyDifferences(cmd.Context())
			if err != nil {
				return err
			}
			list, offers := joinDS(g.Answers)
			if len(args) > 0 {
				if list, err = ofZone(list, args[0]); err != nil {
					return err
				}
			}
			t := &render.Table{Columns: []render.Column{{Name: "DS RECORD"}}, Empty: notSigned}
			if list.Enabled {
				t.Empty = "There is no DS record yet: a new key gets one when the nodes agree on it, within 30 " +
					"seconds; run gslbctl dnssec status."
			}
			for _, ds := range list.DSRecords {
				t.AddNamed(ds.DSRecord, render.C(ds.DSRecord))
			}
			for _, zone := range list.NoDS {
				t.AddNamed(zone, render.C(zone+" must have no DS record in its parent: remove the existing records"))
			}
			switch err := a.List(list, t); {
			case err != nil:
				return err
			case list.Warning != nil:
				return &fleet.Error{Code: fleet.Degraded, Message: *list.Warning}
			case len(list.DSRecords)+len(list.NoDS) == 0:
				return &fleet.Error{Code: fleet.Degraded}
			}
			return g.Done(differentKeys(append(different, offers...)))
		},
	})
}

// ofZone returns the records of one zone. It returns an error for a zone without records on nodes that sign.
func ofZone(list api.DSRecords, zone string) (api.DSRecords, error) {
	zone = strings.TrimSuffix(zone, ".")
	list.DSRecords = slices.DeleteFunc(list.DSRecords, func(r api.DSRecord) bool { return !sameName(zone, r.Zone) })
	list.NoDS = slices.DeleteFunc(list.NoDS, func(z string) bool { return !sameName(zone, z) })
	if list.Enabled && len(list.DSRecords)+len(list.NoDS) == 0 {
		return list, fleet.NewError(fleet.Degraded, fmt.Sprintf("no node has a DS record of the zone %s: gslbctl dnssec "+
			"status lists the signed zones; a new key gets a record within 30 seconds", zone),
			&api.Error{Status: http.StatusNotFound})
	}
	return list, nil
}

// peersTable returns a table with the state of the key exchange with each peer.
func (a *app) peersTable(peers []api.DNSSECPeer) *render.Table {
	t := &render.Table{Columns: []render.Column{{Name: "PEER"}, {Name: "NODE"}, {Name: "WELL"}, {Name: "LAST ANSWER"},
		{Name: "REASON"}}}
	for _, p := range peers {
		t.Add(render.C(p.Peer), orNone(p.NodeID), render.C(render.YesNo(p.OK)), a.Ago(p.LastSuccess),
			problemCell(p.Error))
	}
	return t
}
