package doctor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"strings"
	"text/tabwriter"

	"gslb.internal/overwatch/internal/cluster/peerauth"
	"gslb.internal/overwatch/internal/control"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/store"
)

// doctorZones bounds the number of zones with delegation checks, in the order of the configuration.
const doctorZones = 20

// Run examines the machine and the configuration at path, writes the findings to out, and returns an error if one of
// them is Trouble. Faults of the configuration itself are settings.Problems. It changes nothing.
func Run(path string, out io.Writer) error {
	if err := Validate(path); err != nil {
		return err
	}
	cfg, err := control.Load(path)
	if err != nil {
		return err
	}
	examined := examined(cfg)
	findings := append([]Finding{{Grade: Fine, Subject: "configuration", Text: path + " is valid"}},
		cautions(cfg)...)
	if off := keysNotExchanged(cfg); off != nil {
		findings = append(findings, Finding{
			Grade: Trouble, Subject: "key exchange",
			Text: "signing keys are not exchanged with the other nodes: " + off.Error(),
			Remedy: "put one secret into overwatch.dnssec.key_sync.secret of all nodes and reload them: gslbctl keygen token " +
				"makes one",
		})
	}
	findings = append(findings, Examine(context.Background(), examined)...)
	if left := zonesOf(cfg)[len(examined.Zones):]; len(left) > 0 {
		findings = append(findings, Finding{
			Grade: Advice, Subject: "delegation",
			Text: fmt.Sprintf("%d further zones were not looked at, from %s on", len(left), left[0].Name),
		})
	}
	troubles := 0
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, f := range findings {
		fmt.Fprintf(table, "%s\t%s\t%s\n", f.Grade, f.Subject, f.Text)
		if f.Remedy != "" {
			fmt.Fprintf(table, "\t\t-> %s\n", f.Remedy)
		}
		if f.Grade == Trouble {
			troubles++
		}
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if troubles > 0 {
		return errors.New(counted(troubles, "finding is", "findings are") + " in trouble")
	}
	return nil
}

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// cautions are the node's own warnings about its configuration.
func cautions(cfg *config.Config) (found []Finding) {
	for _, message := range cfg.Warnings() {
		found = append(found, Finding{Grade: Advice, Subject: "configuration", Text: message})
	}
	return found
}

func examined(cfg *config.Config) Node {
	zones := zonesOf(cfg)
	p := Node{
		DataDir: cfg.DataDir, Names: len(cfg.Domains), Signed: cfg.Overwatch.DNSSEC.Enabled,
		Geo:   cfg.Overwatch.Geolocation.DatabasePath,
		Zones: zones[:min(len(zones), doctorZones)], Running: store.InUse(cfg.DataDir),
		Peers: cfg.Overwatch.DNSSEC.KeySync.Peers, PeersTLS: peerauth.TLSFilesOf(cfg).Config,
		Seeds: cfg.Overwatch.Gossip.Seeds,
	}
	for _, text := range cfg.DNS.ListenAddress {
		if port, all := strings.CutPrefix(text, ":"); all {
			text = "0.0.0.0:" + port
		}
		if at, err := netip.ParseAddrPort(text); err == nil && at.Port() != 0 {
			p.DNS = append(p.DNS, at)
		}
	}
	return p
}

// zonesOf returns the configured zones, and the domains that are zones of their own.
func zonesOf(cfg *config.Config) (zones []Zone) {
	for _, z := range cfg.DNS.Zones {
		zones = append(zones, Zone{Name: strings.TrimSuffix(z.Name, "."), Nameservers: z.Nameservers})
	}
	configured := len(zones)
	for _, d := range cfg.Domains {
		name, within := strings.ToLower(strings.TrimSuffix(d.Name, ".")), false
		for _, z := range zones[:configured] {
			apex := strings.ToLower(z.Name)
			within = within || name == apex || strings.HasSuffix(name, "."+apex)
		}
		if !within {
			zones = append(zones, Zone{Name: name})
		}
	}
	return zones
}
