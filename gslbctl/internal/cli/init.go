package cli

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/gslbctl/internal/pair"
)

// initReport is the output of init. It contains no secrets.
type initReport struct {
	Files      pair.Files `json:"files"`
	Zone       string     `json:"zone"`
	Services   []string   `json:"services"`
	Nodes      []initNode `json:"nodes"`
	Delegation []string   `json:"delegation"` // the records for the parent zone, without the DS records
	Context    string     `json:"context"`    // the new context of gslbctl, or ""
}

// initNode is an overwatch node of an initReport.
type initNode struct {
	Name string `json:"name"`
	DNS  string `json:"dns"`
	API  string `json:"api"`
}

func (a *app) initCommand() *cobra.Command {
	var plan pair.Plan
	var nodes, services []string
	var join string
	cmd := &cobra.Command{
		Use:   "init <directory> {--zone <zone> --service <name>=<ip>:<port> | --join <file>} --node <name>=<ip>",
		Short: "Create the configuration of a new cluster or a new node",
		Long: "init writes the configuration of each overwatch node of a zone, and agent.yaml for an agent that\n" +
			"reports backends to all nodes, with new keys. Several nodes exchange their signing keys. admin.token\n" +
			"has all rights; gslbctl gets a context with this token, named by --context or the zone.\n\n" +
			"With --join, init writes the configuration of another node of an existing cluster, and prints the\n" +
			"changes for the other nodes, the agents and the parent zone.\n\n" +
			"init sends no request and overwrites no configuration.",
		Example: "  gslbctl init ./try --local --zone gslb.example.com --service app=127.0.0.1:8000\n" +
			"  gslbctl init ./gslb --zone gslb.example.com --node ns1=203.0.113.10 --node " +
			"ns2=198.51.100.10,2001:db8::10 \\\n" +
			"      --service app=192.0.2.10:8080,192.0.2.11:8080 --service shop=192.0.2.12:443 --check http:/health " +
			"--region eu\n" +
			"  gslbctl init ./new --join /etc/gslb/overwatch.yaml --node ns3=192.0.2.53",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, text := range nodes {
				n, err := pair.ParseNode(text)
				if err != nil {
					return err
				}
				plan.Nodes = append(plan.Nodes, n)
			}
			if join != "" {
				return a.join(cmd, args[0], join, plan)
			}
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
			if plan.Local && plan.DataDir == "" {
				plan.DataDir = filepath.ToSlash(filepath.Join(dir, "data"))
			}
			kept, err := a.contextToMake(dir, plan)
			if err != nil {
				return err
			}
			files, plan, err := pair.Write(dir, plan)
			if err != nil {
				return err
			}
			if err := kept.save(); err != nil {
				return err
			}
			report := reportOf(files, &plan)
			report.Context = kept.name
			return a.Print(report, func() string { return nextSteps(report, &plan, kept) })
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&plan.Zone, "zone", "", "`zone` of the cluster")
	flags.StringArrayVar(&services, "service", nil,
		"service with its backends, as `name=ip:port[,ip:port]`; repeat the flag for more services")
	flags.StringArrayVar(&nodes, "node", nil,
		"overwatch node with its public addresses, as `name=ip[,ip]`; repeat the flag for more "+
			"nodes")
	flags.StringVar(&plan.Region, "region", pair.DefaultRegion, "`region` of all nodes, agents and backends")
	flags.StringVar(&plan.Check, "check", pair.DefaultCheck, "health check of backends: tcp, http:/path or https:/path")
	flags.StringArrayVar(&plan.DNS, "dns-listen", nil,
		"DNS address of nodes (default :53); give each -listen flag once for all nodes, or once per node in "+
			"the order of --node")
	flags.StringArrayVar(&plan.Gossip, "gossip-listen", nil, "gossip address of nodes (default 0.0.0.0:7946)")
	flags.StringArrayVar(&plan.API, "api-listen", nil,
		"API address of nodes (default 127.0.0.1:8080 for a single node, else :8080)")
	flags.StringArrayVar(&plan.Metrics, "metrics-listen", nil,
		"Prometheus metrics address of nodes (default 127.0.0.1:9090)")
	flags.StringVar(&plan.DataDir, "data-dir", "",
		"data `directory` of nodes and agents (default: /var/lib/gslb of a node and "+
			"/var/lib/gslb-agent of an agent)")
	flags.BoolVar(&plan.Local, "local", false,
		"create a test cluster on this machine: 127.0.0.1, DNS from port 5300 on, data in the directory; --node "+
			"needs only a name")
	flags.StringVar(&join, "join", "",
		"configuration `file` of an existing node: create the configuration of another node; requires one --node")
	cmdline.RequireUnless(cmd, "join",
		[2]string{"zone", "the zone that the nodes answer, such as --zone gslb.example.com"},
		[2]string{"service", "a name in the zone with its backends, such as --service app=192.0.2.10:8080"})
	return cmd
}

func reportOf(files pair.Files, plan *pair.Plan) initReport {
	report := initReport{Files: files, Zone: plan.Zone, Delegation: plan.Delegation()}
	for _, s := range plan.Services {
		report.Services = append(report.Services, s.Name)
	}
	for i := range plan.Nodes {
		n := &plan.Nodes[i]
		report.Nodes = append(report.Nodes, initNode{n.Name, n.DNSAt(), n.APIAt()})
	}
	return report
}
