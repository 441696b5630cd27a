package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/fleet"
	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/shared/api"
)

func (a *app) diffCommand() *cobra.Command {
	var o glueOptions
	cmd := a.Watchable(&cobra.Command{
		Use:   "diff [<name>]",
		Short: "Compare objects, states and keys of the nodes, or the answers for a name",
		Long: "diff compares the nodes: domains (policy, TTL and state), servers with their status, overrides,\n" +
			"regions, mappings, agents with their certificates, and signing keys. It also compares the addresses\n" +
			"of name servers in the DNS of each node and in the glue of the parent zone. It does not compare the\n" +
			"records: list of dns.zones. If the nodes do not replicate changes, a change that failed on a node\n" +
			"stays a difference until the change is repeated.\n\n" +
			"With a name, diff compares this name: its domain, its servers, the addresses that each node selects\n" +
			"for the clients of each region, and the answers of the DNS servers. The DNS answers of a domain\n" +
			"rotate, so that diff reports only addresses that the node has not selected (\"as selected\": none).\n\n" +
			"The exit code is 0 if the nodes agree, 1 if they differ or a node does not answer, 2 if fewer than\n" +
			"two nodes answer.",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: a.CompleteArguments(domainNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) == 0:
				return a.diff(cmd.Context(), o)
			case o.explicit():
				return errors.New("--parent and --resolver are about name servers: omit them, or the name")
			}
			return a.diffName(cmd.Context(), args[0])
		},
	})
	o.add(cmd)
	return cmd
}

// difference is a fact on which nodes disagree.
type difference struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
	// Said has the values by node. It has no entry for a node without this fact. The glue of the parent zone has the key
	// "parent".
	Said map[string]string `json:"said"`
}

// diffReport is the output of diff.
type diffReport struct {
	Name        string            `json:"name,omitempty"` // the compared name; "": everything
	Nodes       []string          `json:"nodes"`          // nodes that were compared
	Differences []difference      `json:"differences"`
	Unasked     map[string]string `json:"unasked,omitempty"` // reasons why other nodes were not compared, by node
	Notes       []string          `json:"notes,omitempty"`   // reasons why name servers or glue were not compared
}

// separate returns the answers of the nodes that answered and the sentences about the other nodes. It adds both to the
// report.
func (r *diffReport) separate(replies []fleet.Answer[map[fact]string]) (answered []fleet.Answer[map[fact]string],
	unasked []string) {
	for _, reply := range replies {
		if reply.Err == nil {
			r.Nodes = append(r.Nodes, reply.Node)
			answered = append(answered, reply)
			continue
		}
		_, sentence := fleet.Explain(reply.Err)
		r.Unasked[reply.Node] = sentence
		unasked = append(unasked, sentence)
	}
	return answered, unasked
}

func (a *app) diff(ctx context.Context, o glueOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	replies, err := fleet.AskAll(ctx, a.Fleet, fleet.Asking, readFacts)
	if err != nil {
		return err
	}
	if len(replies) < 2 {
		return errors.New("diff compares nodes: name two or more, such as with --api twice")
	}
	report := diffReport{Differences: []difference{}, Unasked: map[string]string{}}
	replies, unasked := report.separate(replies)
	if len(replies) < 2 {
		return &fleet.Error{Code: fleet.NotAsked, Message: "nothing can be compared: " + strings.Join(unasked, "; ")}
	}
	servers, notes, err := a.compareNameservers(ctx, o, report.Nodes)
	if err != nil {
		return err
	}
	report.Differences, report.Notes = sortDifferences(append(differences(replies), servers...)), notes
	if err := a.Print(report, a.Table(diffTable(report))); err != nil {
		return err
	}
	for _, note := range notes {
		fmt.Fprintln(a.Err, "gslbctl: "+render.Printable(note))
	}
	switch {
	case len(notes) > 0 && o.explicit():
		return &fleet.Error{Code: fleet.Degraded}
	case len(unasked) > 0:
		return &fleet.Error{Code: fleet.Degraded, Message: "not compared: " + strings.Join(unasked, "; ")}
	case len(report.Differences) > 0:
		return &fleet.Error{Code: fleet.Degraded}
	}
	return nil
}

// differences returns the sorted facts that have different values on the answering nodes.
func differences(replies []fleet.Answer[map[fact]string]) []difference {
	list := []difference{}
	everything := map[fact]bool{}
	for _, r := range replies {
		for t := range r.Value {
			everything[t] = true
		}
	}
	for t := range everything {
		d := difference{Kind: t.kind, Name: t.name, Said: map[string]string{}}
		versions := map[string]bool{}
		for _, r := range replies {
			said, known := r.Value[t]
			if known {
				d.Said[r.Node] = said
			}
			versions[fmt.Sprint(known, said)] = true
		}
		if len(versions) > 1 {
			list = append(list, d)
		}
	}
	return sortDifferences(list)
}

// sortDifferences sorts a list by kind and name, and returns it.
func sortDifferences(list []difference) []difference {
	slices.SortFunc(list, func(x, y difference) int {
		return slices.Compare([]string{x.Kind, x.Name}, []string{y.Kind, y.Name})
	})
	return list
}

// differing returns the facts, except signing keys, with different values on the nodes. It requests the facts twice and
// returns only the differences in both answers, because a change may reach the nodes at different times.
func (a *app) differing(ctx context.Context, clients []*api.Client) []difference {
	if len(clients) < 2 {
		return nil
	}
	look := func() []difference {
		replies := slices.DeleteFunc(fleet.AskClients(ctx, clients, readFacts),
			func(r fleet.Answer[map[fact]string]) bool { return r.Err != nil })
		for _, r := range replies { // nodes report different keys as a separate condition
			maps.DeleteFunc(r.Value, func(f fact, _ string) bool { return f.kind == "key" })
		}
		return differences(replies)
	}
	first := look()
	if len(first) == 0 {
		return nil
	}
	return slices.DeleteFunc(look(), func(d difference) bool {
		return !slices.ContainsFunc(first, func(f difference) bool { return f.Kind == d.Kind && f.Name == d.Name })
	})
}

func diffTable(report diffReport) *render.Table {
	t := &render.Table{Columns: []render.Column{{Name: "WHAT"}, {Name: "WHICH"}},
		Empty: fmt.Sprintf("The %d nodes say the same.", len(report.Nodes))}
	if report.Name != "" {
		t.Empty = fmt.Sprintf("The %d nodes return the same answers for %s.", len(report.Nodes), report.Name)
	}
	columns := slices.Clone(report.Nodes)
	if slices.ContainsFunc(report.Differences, func(d difference) bool {
		_,
			said := d.Said[parentColumn]
		return said
	}) {
		columns = append(columns, parentColumn)
	}
	for _, node := range columns {
		t.Columns = append(t.Columns, render.Column{Name: node})
	}
	for _, d := range report.Differences {
		row := []render.Cell{render.C(d.Kind), render.C(d.Name)}
		for _, node := range columns {
			said, known := d.Said[node]
			switch {
			case !known && node == parentColumn:
				row = append(row, render.C(render.None))
				continue
			case !known:
				row = append(row, render.Cell{Text: "not there", Tone: render.Warn})
				continue
			}
			row = append(row, render.C(said))
		}
		t.Add(row...)
	}
	return t
}
