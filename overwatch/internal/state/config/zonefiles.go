package config

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"gslb.internal/overwatch/internal/state/zonefile"
	"gslb.internal/shared/settings"
)

// readZoneFiles loads the zone files. A zone without nameservers or admin uses the values of its file.
func (c *Config) readZoneFiles(report *settings.Report) {
	for i := range c.DNS.Zones {
		z := &c.DNS.Zones[i]
		key := fmt.Sprintf("dns.zones[%d].file", i)
		if z.File == "" || report.HasProblem(fmt.Sprintf("dns.zones[%d].name", i)) {
			continue
		}
		path := z.File
		if !filepath.IsAbs(path) {
			path = filepath.Join(filepath.Dir(report.Locate(key).File), path)
		}
		records, err := zonefile.Read(path, z.Name, uint32(max(c.DNS.TTL(0), 0)))
		if err != nil {
			report.Add(key, z.File, err.Error())
			continue
		}
		apex := zonefile.Apex(records, z.Name)
		z.FromFile = apex.Rest
		if z.Admin == "" {
			z.Admin = apex.Admin
		}
		given := z.Nameservers
		for _, ns := range apex.Nameservers {
			if len(given) == 0 {
				z.Nameservers = append(z.Nameservers, ns.Name)
			} else if !slices.ContainsFunc(given, func(name string) bool {
				return strings.EqualFold(strings.TrimSuffix(name, "."), ns.Name)
			}) {
				report.Add(settings.Entry(key, ns.At), ns.Name, "is not among the nameservers of the zone's keys: remove one")
			}
		}
	}
}

// refuseZoneFiles adds a fault for each zone file in a text that must be complete.
func (c *Config) refuseZoneFiles(report *settings.Report) {
	for i, z := range c.DNS.Zones {
		if z.File != "" {
			report.Add(fmt.Sprintf("dns.zones[%d].file", i), z.File,
				"this text is checked by itself and no file is read: put its records under records")
		}
	}
}
