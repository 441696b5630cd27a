package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/gslbctl/internal/fleet"
	"gslb.internal/gslbctl/internal/manifest"
	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/shared/api"
)

func (a *app) exportCommand() *cobra.Command {
	var owner string
	var all bool
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Export the objects of the API as a document, or with --all the complete configuration",
		Long: "export prints the regions, domains, servers, mappings, records and announced agents that the API created,\n" +
			"with their owners. It also prints the settings of dns and health-check that the API changed;\n" +
			"settings have no owner. Omitted fields have their default. The document does not contain the objects\n" +
			"of the configuration file: gslbctl apply cannot change them.\n\n" +
			"With --all, export prints the complete configuration of the first node that answers: all settings, and\n" +
			"all regions, domains, servers and mappings with their source, config (the file) or api. It is for\n" +
			"reading and comparison, not for apply. Secrets are omitted.",
		Example: "  gslbctl export --owner shop\n  gslbctl export --all",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if all {
				return a.exportAll(cmd.Context())
			}
			doc, err := fleet.First(cmd.Context(), a.Fleet, fleet.Call((*api.Client).Document))
			if err != nil {
				return err
			}
			if owner != "" {
				doc = manifest.OwnedBy(doc, owner)
			}
			if a.ForPeople() {
				a.Output = cmdline.YAML
			}
			return a.Print(doc, nil)
		},
	}
	cmd.Flags().StringVar(&owner, "owner", "", "only the objects of this `owner`, without settings")
	cmd.Flags().BoolVar(&all, "all", false, "print the complete configuration, with the objects of the file")
	cmd.MarkFlagsMutuallyExclusive("owner", "all")
	return cmd
}

// applyFlags are the flags that plan and apply share.
type applyFlags struct {
	file, owner  string
	prune, force bool
}

func (f *applyFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&f.file, "file", "f", "",
		"the document: a `file`, a folder of .yaml, .yml and .json files, or -")
	cmd.Flags().StringVar(&f.owner, "owner", "", "`owner` of the objects of the document; objects of other owners "+
		"stay unchanged")
	cmd.Flags().BoolVar(&f.prune, "prune", false, "delete objects of the owner that are not in the document")
}

// request reads the document and returns the request for plan or apply. The Manifest contains the file positions of
// objects, for error messages.
func (f *applyFlags) request(a *app) (*manifest.Manifest, api.ApplyRequest, error) {
	if f.file == "" {
		return nil, api.ApplyRequest{}, errors.New("--file is missing: the document, such as -f shop.yaml")
	}
	m, err := manifest.Read(f.file, a.In)
	if err != nil {
		return nil, api.ApplyRequest{}, err
	}
	return m, api.ApplyRequest{Document: m.Document, Owner: f.owner, Prune: f.prune, Force: f.force}, nil
}

func (a *app) applyCommand() *cobra.Command {
	var f applyFlags
	var dry bool
	cmd := &cobra.Command{
		Use:   "apply -f FILE",
		Short: "Create and change the objects of a document on every node",
		Long: "apply creates and changes the objects of a document, all or none, on every node. Other objects stay,\n" +
			"except with --prune. A second run changes nothing. A change of more than 30 % of the objects of an\n" +
			"owner, or a name with too few backends, requires --force.",
		Example: "  gslbctl apply -f shop.yaml --owner shop --prune",
		RunE: func(cmd *cobra.Command, _ []string) error {
			m, req, err := f.request(a)
			if err != nil {
				return err
			}
			ask := (*api.Client).Apply
			if dry {
				ask = (*api.Client).Plan
			}
			return a.applyOn(cmd.Context(), m, dry, fleet.CallWith(ask, req))
		},
	}
	f.add(cmd)
	cmd.Flags().BoolVar(&f.force, "force", false,
		"apply a large change, or a change that leaves names with too few backends")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "show the changes, change nothing")
	return cmd
}

// applyOn calls ask, which applies the document of m. If one node replicates changes to all others, ask runs on this
// node, or else on every node. A rejection by a node does not stop the other nodes. With dry, ask is a plan and runs on
// every node.
func (a *app) applyOn(ctx context.Context, m *manifest.Manifest, dry bool, ask fleet.Request[api.Plan]) error {
	clients, err := a.Clients()
	if err != nil {
		return err
	}
	via := fleet.Replicator(ctx, clients)
	if via != nil && !dry {
		clients = []*api.Client{via}
	}
	stop := a.Progress("applying on " + render.Count(len(clients), "node", "nodes"))
	replies := fleet.AskClients(ctx, clients, ask)
	stop()
	report := map[string]api.Plan{}
	var failed []error
	for _, r := range replies {
		if r.Err != nil {
			failed = append(failed, placed(m, r.Err))
			continue
		}
		report[r.Node] = r.Value
	}
	if len(report) == 0 {
		return noneApplied(failed, dry)
	}
	if err := a.Print(report, func() string { return a.plansText(replies) }); err != nil {
		return err
	}
	const done = "the document is applied"
	switch {
	case dry:
	case via != nil:
		return a.reportPeers(a.AwaitReplication(ctx, via, done))
	case len(failed) == 0 && a.PeerWait > 0:
		return a.reportPeers(a.AwaitPeersOf(ctx, clients, done))
	}
	if len(failed) > 0 {
		_, sentence := fleet.Explain(failed[0])
		return fleet.NewError(fleet.Degraded, fmt.Sprintf("done on %d of %s; repeat it for the others: %s", len(report),
			render.Count(len(replies), "node", "nodes"), sentence), failed[0])
	}
	return nil
}

// reportPeers prints the report about the nodes that have the document, if the output is for people. It returns the
// outcome of the command.
func (a *app) reportPeers(report fleet.Report) error {
	if a.ForPeople() {
		if err := a.Write(report.Text()); err != nil {
			return err
		}
	}
	return a.CheckReplicated(report)
}

// noneApplied returns the outcome of an apply, or of a plan if dry is set, that every node has rejected.
func noneApplied(failed []error, dry bool) error {
	var sentences []string
	for _, err := range failed {
		if _, sentence := fleet.Explain(err); !slices.Contains(sentences, sentence) {
			sentences = append(sentences, sentence)
		}
	}
	code, _ := fleet.Explain(failed[0])
	if !dry && slices.ContainsFunc(failed, func(err error) bool { return !fleet.IsCertain(err) }) {
		code = fleet.Degraded
		sentences = append(sentences, "the document may have been applied: run plan to see the remaining changes")
	}
	return fleet.NewError(code, strings.Join(sentences, "; "), failed[0])
}

// placed returns err with the file and line of the rejected objects, if err names objects.
func placed(m *manifest.Manifest, err error) error {
	refused, ok := errors.AsType[*api.Error](err)
	if !ok || len(refused.Problems) == 0 {
		return err
	}
	const shown = 5
	var lines []string
	for _, p := range refused.Problems[:min(len(refused.Problems), shown)] {
		lines = append(lines, m.Place(p.Object, p.Problem)+": "+p.Problem)
	}
	if more := len(refused.Problems) - shown; more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	code := fleet.Degraded
	if refused.Status == http.StatusBadRequest {
		code = fleet.NotAsked
	}
	return fleet.NewError(code, strings.Join(lines, "; ")+"; "+fleet.NothingChanged, err)
}
