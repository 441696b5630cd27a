package cli

import (
	"fmt"
	"net"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/pair"
	"gslb.internal/gslbctl/internal/render"
)

// The listeners of init: those of the reference deployment, and with --local
// those that need no privileges and that nobody else reaches.
const (
	initDNS, initLocalDNS       = ":53", "127.0.0.1:5300"
	initGossip, initLocalGossip = "0.0.0.0:7946", "127.0.0.1:7946"
	initAPI                     = "127.0.0.1:8080"
)

// initReport is what init made. Its secrets are in the files only.
type initReport struct {
	Files    pair.Files `json:"files"`
	Zone     string     `json:"zone"`
	Services []string   `json:"services"`
	DNS      string     `json:"dns"`
	API      string     `json:"api"`
}

func (a *app) initCommand() *cobra.Command {
	var plan pair.Plan
	var services []string
	var local bool
	cmd := &cobra.Command{
		Use:   "init <directory> --zone <zone> --service <name>=<ip>:<port>",
		Short: "Write a matching pair of configurations, ready to start",
		Long: "init writes overwatch.yaml and agent.yaml with fresh keys, for nodes that answer a zone and an agent that reports backends.\n" +
			"It asks no node and changes no file that is there already. overwatch.yaml goes to every overwatch node, agent.yaml\n" +
			"to the machine with the backends.",
		Example: "  gslbctl init ./try --local --zone gslb.example.com --service app=127.0.0.1:8000\n" +
			"  gslbctl init /etc/gslb --zone gslb.example.com --overwatch ow1.example.net --overwatch ow2.example.net \\\n" +
			"      --service app=192.0.2.10:8080,192.0.2.11:8080 --service shop=192.0.2.12:443 --check http:/health --region eu",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, text := range services {
				s, err := pair.ParseService(text)
				if err != nil {
					return err
				}
				plan.Services = append(plan.Services, s)
			}
			dir, err := filepath.Abs(args[0])
			if err != nil {
				return err
			}
			if local {
				keepLocal(cmd, &plan, dir)
			}
			files, plan, err := pair.Write(dir, plan)
			if err != nil {
				return err
			}
			report := initReport{Files: files, Zone: plan.Zone, DNS: plan.DNS, API: plan.API}
			for _, s := range plan.Services {
				report.Services = append(report.Services, s.Name)
			}
			return a.print(report, func() error { return a.printNextSteps(report) })
		},
	}
	cmd.Flags().StringVar(&plan.Zone, "zone", "", "the `zone` that the nodes answer")
	cmd.Flags().StringArrayVar(&services, "service", nil, "a `name=ip:port[,ip:port]` in the zone and what serves it; repeat it for several")
	cmd.Flags().StringArrayVar(&plan.Overwatch, "overwatch", nil, "`host` of an overwatch node as agents reach it; repeat it for several")
	cmd.Flags().StringVar(&plan.Region, "region", pair.DefaultRegion, "the `region` that the backends are in")
	cmd.Flags().StringVar(&plan.Check, "check", pair.DefaultCheck, "how backends are checked: tcp, http:/path or https:/path")
	cmd.Flags().StringVar(&plan.DNS, "dns-listen", initDNS, "where nodes answer DNS")
	cmd.Flags().StringVar(&plan.Gossip, "gossip-listen", initGossip, "where nodes hear agents")
	cmd.Flags().StringVar(&plan.API, "api-listen", initAPI, "where nodes serve the API")
	cmd.Flags().StringVar(&plan.DataDir, "data-dir", "", "`directory` for the data of both (default: each has /var/lib/gslb on its own machine)")
	cmd.Flags().BoolVar(&local, "local", false, "to try it on this machine: all on 127.0.0.1, DNS on port 5300, data in the directory")
	for _, flag := range []string{"zone", "service"} {
		_ = cmd.MarkFlagRequired(flag)
	}
	return cmd
}

// keepLocal has everything on this machine that the flags say nothing about.
func keepLocal(cmd *cobra.Command, plan *pair.Plan, dir string) {
	given := cmd.Flags().Changed
	if !given("dns-listen") {
		plan.DNS = initLocalDNS
	}
	if !given("gossip-listen") {
		plan.Gossip = initLocalGossip
	}
	if !given("overwatch") {
		plan.Overwatch = []string{plan.Gossip}
	}
	if !given("data-dir") {
		plan.DataDir = filepath.ToSlash(filepath.Join(dir, "data"))
	}
}

func (a *app) printNextSteps(r initReport) error {
	server, port, _ := net.SplitHostPort(r.DNS)
	if server == "" {
		server = "127.0.0.1"
	}
	steps := []string{
		"wrote " + r.Files.Overwatch + " and " + r.Files.Agent,
		"next:",
		"  gslb-overwatch --config " + r.Files.Overwatch,
		"  gslb-agent --config " + r.Files.Agent,
		"  gslbctl --api " + r.API + " status",
		fmt.Sprintf("  dig @%s -p %s %s", server, port, r.Services[0]),
		"  gslbctl --api " + r.API + " dnssec ds   (for the parent of " + r.Zone + ", beside its NS records)",
	}
	_, err := fmt.Fprintln(a.Out, render.PrintableLines(strings.Join(steps, "\n")))
	return err
}
