package cli

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/miekg/dns"
	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/bind"
	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/gslbctl/internal/fleet"
	"gslb.internal/gslbctl/internal/gdnsd"
	"gslb.internal/gslbctl/internal/imports"
	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/gslbctl/internal/route53"
)

// importReport is the output of import.
type importReport struct {
	Files  []string            `json:"files"`
	Taken  int                 `json:"taken"`
	Left   []imports.Deviation `json:"left"` // one for each record that a node cannot serve
	Differ []imports.Deviation `json:"differ,omitempty"`
}

func (a *app) importCommand() *cobra.Command {
	return cmdline.Menu("import", "Import the configuration of another DNS server",
		"import converts files of other programs. It sends no request and overwrites no file.",
		cmdline.Reading(a.importBindCommand()), cmdline.Reading(a.importGdnsdCommand()),
		cmdline.Reading(a.importRoute53Command()))
}

func (a *app) importBindCommand() *cobra.Command {
	var zone, into string
	cmd := &cobra.Command{
		Use:   "bind <zone file> --zone <zone>",
		Short: "Import a zone file of BIND, NSD or Knot",
		Long: "bind writes <zone>.zone with the supported records, and <zone>.yaml, which includes the zone file.\n" +
			"Add <zone>.yaml to `includes` in the configuration of a node. bind prints a line with the reason for\n" +
			"each omitted record.",
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			name := dns.CanonicalName(zone)
			if _, ok := dns.IsDomainName(name); !ok || name == "." || strings.ContainsAny(name, "/\\ \n") {
				return fmt.Errorf("--zone %q: give a zone, such as example.com", zone)
			}
			read, err := bind.Read(args[0], name)
			if err != nil {
				return err
			}
			return a.writeImport(read, into, strings.TrimSuffix(name, ".")+".yaml")
		},
	}
	cmd.Flags().StringVar(&zone, "zone", "", "`zone` of the file")
	cmd.Flags().StringVar(&into, "into", ".", "output `directory`")
	cmdline.Require(cmd, [2]string{"zone", "the zone that the file is for, such as --zone example.com"})
	return cmd
}

func (a *app) importGdnsdCommand() *cobra.Command {
	var into string
	cmd := &cobra.Command{
		Use:   "gdnsd <config>",
		Short: "Import the configuration and zones of gdnsd",
		Long: "gdnsd reads the configuration of gdnsd, such as /etc/gdnsd/config, with its directories zones/ and\n" +
			"geoip/. It writes gdnsd.yaml and a file for each zone. Add gdnsd.yaml to `includes` in the\n" +
			"configuration of a node. gdnsd prints a line with the reason for each omitted name, and a line for\n" +
			"each name with different answers.",
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			read, err := gdnsd.Read(args[0])
			if err != nil {
				return err
			}
			return a.writeImport(read, into, "gdnsd.yaml")
		},
	}
	cmd.Flags().StringVar(&into, "into", ".", "output `directory`")
	return cmd
}

func (a *app) importRoute53Command() *cobra.Command {
	var checks, into string
	cmd := &cobra.Command{
		Use:   "route53 <records> ...",
		Short: "Import zones of Amazon Route 53",
		Long: "route53 reads the JSON of `aws route53 list-resource-record-sets`, one file for each zone, and with\n" +
			"--health-checks the JSON of `aws route53 list-health-checks`. It writes <zone>.zone for each zone\n" +
			"and one configuration, <first zone>.yaml. Add the configuration to `includes` in the configuration\n" +
			"of a node. Import all zones together, because a node has one set of regions. route53 prints a line\n" +
			"with the reason for each omitted set, and a line for each set with different answers.",
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			read, err := readRoute53(args, checks)
			if err != nil {
				return err
			}
			return a.writeImport(read, into, strings.TrimSuffix(read.Config.DNS.Zones[0].File, ".zone")+".yaml")
		},
	}
	cmd.Flags().StringVar(&checks, "health-checks", "", "`file` of the health checks")
	cmd.Flags().StringVar(&into, "into", ".", "output `directory`")
	return cmd
}

// readRoute53 converts the zones in files. checks is the file of health checks, or "".
func readRoute53(zones []string, checks string) (*imports.Result, error) {
	var importer *route53.Importer
	var err error
	if checks == "" {
		importer, err = route53.New(nil)
	} else {
		err = readFrom(checks, func(known io.Reader) (err error) {
			importer, err = route53.New(known)
			return err
		})
	}
	if err != nil {
		return nil, err
	}
	for _, path := range zones {
		if err := readFrom(path, importer.Add); err != nil {
			return nil, err
		}
	}
	return importer.Result(), nil
}

// readFrom opens a file and calls read with its content.
func readFrom(path string, read func(io.Reader) error) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	if err := read(file); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// writeImport writes the files of an import and prints a report.
func (a *app) writeImport(read *imports.Result, into, config string) error {
	text, err := read.Config.Text()
	if err != nil {
		return err
	}
	files := map[string]string{config: text}
	maps.Copy(files, read.Zones)
	report := importReport{Taken: read.Taken, Left: append([]imports.Deviation{}, read.Left...), Differ: read.Differ}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		path := filepath.Join(into, name)
		if err := writeNew(path, func(w io.Writer) error {
			_, err := io.WriteString(w, files[name])
			return err
		}); err != nil {
			return err
		}
		report.Files = append(report.Files, path)
	}
	if err := a.Print(report, report.text); err != nil || read.FaultyZones == 0 {
		return err
	}
	return &fleet.Error{Code: fleet.Degraded, Message: render.Count(read.FaultyZones, "zone is", "zones are") +
		" faulty and omitted: correct the files and repeat the import"}
}

// text returns a line for each omitted or different record, then the written files.
func (r *importReport) text() string {
	lines := append(deviationLines("omitted", r.Left), deviationLines("differs", r.Differ)...)
	return render.Lines(lines) + fmt.Sprintf("%d imported, %d omitted; wrote %s\n", r.Taken, len(r.Left),
		strings.Join(r.Files, " and "))
}

// groupFrom is the number of deviations with one reason from which a group is formed; a group shows at most groupShown
// records.
const groupFrom, groupShown = 4, 5

// deviationLines returns the lines about deviations, in their order. Deviations with the same reason form one group.
func deviationLines(what string, list []imports.Deviation) (lines []string) {
	byWhy := map[string][]imports.Deviation{}
	for _, d := range list {
		byWhy[d.Why] = append(byWhy[d.Why], d)
	}
	for _, d := range list {
		group := byWhy[d.Why]
		if len(group) < groupFrom {
			lines = append(lines, what+": "+d.Record+": "+d.Why)
			continue
		}
		if d != group[0] {
			continue
		}
		lines = append(lines, fmt.Sprintf("%s: %d records: %s", what, len(group), d.Why))
		for _, one := range group[:min(len(group), groupShown)] {
			lines = append(lines, "  "+one.Record)
		}
		if more := len(group) - groupShown; more > 0 {
			lines = append(lines, fmt.Sprintf("  and %d more; -o json lists all", more))
		}
	}
	return lines
}

// writeNew creates a file with mode 0600 and the output of write. It removes the file if write fails. An existing file
// is an error.
func writeNew(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err := errors.Join(write(f), f.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}
