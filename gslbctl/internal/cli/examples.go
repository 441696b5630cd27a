package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

// examples returns the examples of the commands without an example in their definition, one per line, by the name of
// the command without the name of the program.
func examples() map[string]string {
	return map[string]string{
		"agents expiring":    "gslbctl agents expiring --days 30",
		"agents list":        "gslbctl agents list -o wide",
		"agents locks":       "gslbctl agents locks",
		"agents remove":      "gslbctl agents remove eu-1",
		"agents revoke":      "gslbctl agents revoke eu-1 --reason \"machine stolen\" --lock-service",
		"agents show":        "gslbctl agents show eu-1",
		"agents unlock":      "gslbctl agents unlock app.example.com",
		"agents unpin":       "gslbctl agents unpin eu-1\ngslbctl agents unpin --service app.example.com --since 2h",
		"audit export":       "gslbctl audit export --since 30d --format csv --file audit.csv",
		"audit tail":         "gslbctl audit tail -f --actor alice",
		"audit verify":       "gslbctl audit verify",
		"backends list":      "gslbctl backends list --service app.example.com\ngslbctl backends list --down --watch",
		"backends validate":  "gslbctl backends validate app.example.com:192.0.2.10:443",
		"brakes list":        "gslbctl brakes list",
		"config overlays":    "gslbctl config overlays",
		"config reload":      "gslbctl config reload",
		"config reset":       "gslbctl config reset logging",
		"config show":        "gslbctl config show dns",
		"config validate":    "gslbctl config validate overwatch.yaml",
		"context delete":     "gslbctl context delete lab",
		"context list":       "gslbctl context list",
		"context show":       "gslbctl context show prod",
		"context use":        "gslbctl context use prod",
		"diff":               "gslbctl diff\ngslbctl diff app.example.com\ngslbctl diff --parent 192.0.2.53",
		"dnssec check":       "gslbctl dnssec check example.com",
		"dnssec ds":          "gslbctl dnssec ds\ngslbctl dnssec ds example.com",
		"dnssec keys":        "gslbctl dnssec keys -o wide",
		"dnssec rolls":       "gslbctl dnssec rolls --watch",
		"dnssec status":      "gslbctl dnssec status",
		"dnssec sync":        "gslbctl dnssec sync",
		"domains list":       "gslbctl domains list --tag shop",
		"domains remove":     "gslbctl domains remove shop.example.com",
		"domains reset":      "gslbctl domains reset app.example.com",
		"domains set":        "gslbctl domains set app.example.com --ttl 60 --routing-algorithm geolocation",
		"domains show":       "gslbctl domains show app.example.com",
		"geo mappings":       "gslbctl geo mappings -o wide",
		"geo remove":         "gslbctl geo remove 198.51.100.0/24",
		"geo test":           "gslbctl geo test 203.0.113.7",
		"gossip nodes":       "gslbctl gossip nodes",
		"health regions":     "gslbctl health regions",
		"health servers":     "gslbctl health servers --watch",
		"import bind":        "gslbctl import bind example.com.zone --zone example.com",
		"import gdnsd":       "gslbctl import gdnsd /etc/gdnsd/config",
		"import route53":     "gslbctl import route53 records.json --health-checks checks.json",
		"keygen gossip":      "gslbctl keygen gossip",
		"keygen token":       "gslbctl keygen token",
		"man":                "gslbctl man /usr/local/share/man/man1",
		"metrics node":       "gslbctl metrics node ow-1",
		"metrics overview":   "gslbctl metrics overview --watch",
		"metrics region":     "gslbctl metrics region eu",
		"metrics routing":    "gslbctl metrics routing",
		"nodes agents":       "gslbctl nodes agents",
		"nodes announce":     "gslbctl nodes announce eu-2 --region eu",
		"nodes certificate":  "gslbctl nodes certificate eu-1",
		"nodes list":         "gslbctl nodes list",
		"nodes reissue":      "gslbctl nodes reissue eu-1",
		"nodes show":         "gslbctl nodes show ow-1",
		"notifications list": "gslbctl notifications list",
		"orders":             "gslbctl orders",
		"overrides clear":    "gslbctl overrides clear app.example.com:192.0.2.10:443",
		"overrides list":     "gslbctl overrides list",
		"preferences show":   "gslbctl preferences show",
		"records list":       "gslbctl records list -o wide",
		"regions list":       "gslbctl regions list -o wide",
		"regions remove":     "gslbctl regions remove eu-north",
		"regions reset":      "gslbctl regions reset eu",
		"regions set":        "gslbctl regions set eu --enabled=false",
		"regions show":       "gslbctl regions show eu",
		"routing algorithms": "gslbctl routing algorithms",
		"routing answers":    "gslbctl routing answers app.example.com --type AAAA",
		"routing decisions":  "gslbctl routing decisions --domain app.example.com --outcome failover --since 1h",
		"routing why":        "gslbctl routing why 0-1042 --node 192.0.2.1",
		"why": "gslbctl why app.example.com\ngslbctl why app.example.com --client 203.0.113.7\n" +
			"gslbctl why 0-1042 --node 192.0.2.1",
		"routing flows":  "gslbctl routing flows --domain app.example.com --since 1d",
		"servers check":  "gslbctl servers check app.example.com:192.0.2.10:443 --type http --path /up",
		"servers list":   "gslbctl servers list -o wide",
		"servers remove": "gslbctl servers remove app.example.com:192.0.2.12:443",
		"servers reset":  "gslbctl servers reset app.example.com:192.0.2.10:443",
		"servers set": "gslbctl servers set app.example.com:192.0.2.10:443 --weight 50\n" +
			"gslbctl servers set app.example.com 192.0.2.10:443 --weight 50",
		"status":        "gslbctl status\ngslbctl status --watch --interval 5s",
		"undrain":       "gslbctl undrain app.example.com:192.0.2.10:443\ngslbctl undrain eu",
		"version":       "gslbctl version --nodes",
		"tokens list":   "gslbctl tokens list -o wide",
		"tokens whoami": "gslbctl tokens whoami",
		"tokens revoke": "gslbctl tokens revoke external-dns",
		"top":           "gslbctl top\ngslbctl top --domain app.example.com",
	}
}

// maxGroupExamples bounds the examples of a command with subcommands.
const maxGroupExamples = 4

// addExamples adds the known examples to cmd and its subcommands. A command with subcommands has the first example of
// each of its first subcommands.
func addExamples(cmd *cobra.Command, known map[string]string) {
	var ofChildren []string
	for _, child := range cmd.Commands() {
		addExamples(child, known)
		if first, _, _ := strings.Cut(child.Example, "\n"); child.IsAvailableCommand() && first != "" {
			ofChildren = append(ofChildren, first)
		}
	}
	switch lines := known[strings.TrimPrefix(cmd.CommandPath(), "gslbctl ")]; {
	case lines != "":
		cmd.Example = "  " + strings.ReplaceAll(lines, "\n", "\n  ")
	case cmd.HasParent() && len(ofChildren) > 0:
		cmd.Example = strings.Join(ofChildren[:min(len(ofChildren), maxGroupExamples)], "\n")
	}
}
