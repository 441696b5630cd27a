package config_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"gslb.internal/overwatch/internal/policy"
)

// Every example of the page about routing is a valid configuration together with the required keys of a node, and every
// algorithm has an example.
func TestRoutingPage_ItsExamplesAreConfigurations(t *testing.T) {
	page, err := os.ReadFile("../../../docs/routing.md")
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	for _, block := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(page), -1) {
		example := block[1]
		inner := ""
		if rest, found := strings.CutPrefix(example, "overwatch:\n"); found {
			end := strings.Index(rest, "\nregions:") + 1
			inner, example = rest[:end], rest[end:]
		}
		c, problems := loadText(t, "mode: overwatch\noverwatch:\n  gossip: {encryption_key: \""+testKey+"\"}\n"+inner+example)
		if problems != nil || len(c.Warnings()) > 0 {
			t.Errorf("%s\n%v %q", block[1], problems, c.Warnings())
			continue
		}
		for _, d := range c.Domains {
			used[d.RoutingAlgorithm] = true
		}
	}
	for _, a := range policy.Algorithms() {
		if !used[a.Name] {
			t.Errorf("no example for %s", a)
		}
	}
}
