package docs_test

import (
	"fmt"
	"os"
	"regexp"
	"testing"

	"gslb.internal/shared/api"
)

// Pages, alerts and programs use the same number of days before the end of a certificate.
func TestDocs_CertificatesAreWarnedOfAlike(t *testing.T) {
	said := regexp.MustCompile(`(?i)(?:from|certificates? (?:that )?ends? within) (\w+) days(?: before its\s+end)?`)
	for _, page := range []string{"overwatch/docs/runbooks.md", "overwatch/docs/metrics.md", "overwatch/docs/api.md",
		"agent/README.md", "packaging/observability/gslb-alerts.yaml", "packaging/observability/gslb-alerts.test.yaml"} {
		text, err := os.ReadFile("../../" + page)
		if err != nil {
			t.Fatal(err)
		}
		found := said.FindAllSubmatch(text, -1)
		if len(found) == 0 {
			t.Errorf("%s does not say when a certificate is warned of", page)
		}
		for _, f := range found {
			if string(f[1]) != fmt.Sprint(api.DefaultExpiringDays) {
				t.Errorf("%s says %q, and it is %d days", page, f[0], api.DefaultExpiringDays)
			}
		}
	}
}
