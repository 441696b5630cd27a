package config_test

import (
	"slices"
	"strings"
	"testing"

	"gslb.internal/overwatch/internal/state/config"
)

// regionsOf returns a configuration with regions, and with references to regions in another case.
func regionsOf(t *testing.T, regions string) *config.Config {
	t.Helper()
	const references = "overwatch: {geolocation: {default_region: LATAM, custom_mappings: [{cidr: 10.0.0.0/8, " +
		"region: EU}]}, identity: {region: EU, "
	text := strings.Replace(smallest, "overwatch: {identity: {", references, 1) + regions + `
domains: [{name: a.example, regions: [LATAM, Eu]}]
`
	c, problems := loadText(t, text)
	if problems != nil {
		t.Fatalf("%s: %v", text, problems)
	}
	return c
}

// References to a region may have another case than the region. After the file is read, all have the region's spelling.
func TestParse_ReferencesTakeTheSpellingOfTheirRegion(t *testing.T) {
	c := regionsOf(t, "regions: [{name: Latam}, {name: eu}]")
	if got := c.Domains[0].Regions; !slices.Equal(got, []string{"Latam", "eu"}) {
		t.Errorf("regions of the domain: %q", got)
	}
	g := c.Overwatch.Geolocation
	if g.DefaultRegion != "Latam" || g.CustomMappings[0].Region != "eu" || c.Overwatch.Identity.Region != "eu" {
		t.Errorf("default_region %q, region of the mapping %q, of the node %q", g.DefaultRegion,
			g.CustomMappings[0].Region, c.Overwatch.Identity.Region)
	}
}

// A file of version 0.9 may have two regions with names that differ only in case.
func TestParse_TwoRegionsThatDifferOnlyInCaseStay(t *testing.T) {
	c := regionsOf(t, "regions: [{name: latam}, {name: LATAM}, {name: eu}]")
	if got := c.Overwatch.Geolocation.DefaultRegion; got != "LATAM" {
		t.Errorf("default_region is %q, want the region of exactly this name", got)
	}
	isAbout := func(warning string) bool {
		return strings.Contains(warning, `differs from region "latam" only in case`)
	}
	if !slices.ContainsFunc(c.Warnings(), isAbout) {
		t.Errorf("no warning in %q", c.Warnings())
	}
}
