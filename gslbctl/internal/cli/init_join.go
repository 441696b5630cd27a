package cli

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"gslb.internal/gslbctl/internal/pair"
	"gslb.internal/gslbctl/internal/render"
)

// join writes the configuration of a new node, and prints the changes for the other machines.
func (a *app) join(cmd *cobra.Command, dir, file string, plan pair.Plan) error {
	var other string
	cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		if f.Changed && f.Name != "join" && f.Name != "node" && f.Name != "region" {
			other = f.Name
		}
	})
	if other != "" {
		return fmt.Errorf("--%s: not available with --join: the new node has the settings of the existing node", other)
	}
	if len(plan.Nodes) != 1 {
		return fmt.Errorf("--join: %d nodes are given: name the new node with one --node name=ip", len(plan.Nodes))
	}
	region := ""
	if cmd.Flags().Changed("region") {
		region = plan.Region
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	joined, err := pair.Join(dir, file, plan.Nodes[0], region)
	if err != nil {
		return err
	}
	return a.Print(joined, func() string { return joinSteps(joined) })
}

// joinSteps lists the steps that add the new node to the cluster, in an order that keeps every DNS name available.
func joinSteps(j *pair.Joined) string {
	lines := []string{"wrote " + j.File, "next, on one machine after the other:"}
	add := func(format string, values ...any) { lines = append(lines, fmt.Sprintf(format, values...)) }
	add("")
	add("1. on %s and each other node, in /etc/gslb/overwatch.yaml, then restart gslb-overwatch:", j.Existing)
	add("     overwatch:")
	add("       dnssec:")
	add("         key_sync:")
	if j.NewSecret {
		add("           secret: # copy the line from %s", filepath.Base(j.File))
	}
	add("           peers: %s", quoted(j.Peers))
	add("     api:")
	if j.API != "" {
		add("       address: %q", j.API)
	}
	add("       allowed_networks: %s", quoted(j.Networks))
	add("2. on %s, as root, with the package gslb-overwatch:", j.Node)
	if len(j.Secrets) > 0 {
		add("     copy these files from %s to the same paths: %s", j.Existing, strings.Join(j.Secrets, ", "))
	}
	add("     %s && systemctl restart gslb-overwatch", giveTo("gslb-overwatch", "gslb", j.File))
	add("3. on each agent, in /etc/gslb/agent.yaml, then reload gslb-agent:")
	add("     agent:")
	add("       gossip:")
	add("         overwatch_nodes: %s", quoted(j.Agents))
	add("4. gslbctl diff compares the nodes, and gslbctl dnssec keys shows that they sign with the same keys")
	add("5. on %s and each other node, in /etc/gslb/overwatch.yaml, then reload gslb-overwatch:", j.Existing)
	for _, zone := range j.Zones {
		add("     dns.zones, %s:", zone.Name)
		add("       nameservers: %s", quoted(zone.Nameservers))
		for _, record := range zone.Records {
			add("       records: add %q", record)
		}
	}
	add("6. in the zone above, add:")
	for _, record := range j.Parent {
		add("     %s", record)
	}
	add("7. add the node to the context: gslbctl context set")
	return render.Lines(lines)
}

// quoted returns a YAML list of strings on one line.
func quoted(list []string) string {
	var words []string
	for _, text := range list {
		words = append(words, fmt.Sprintf("%q", text))
	}
	return "[" + strings.Join(words, ", ") + "]"
}
