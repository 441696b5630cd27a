package overwatch // inside: it uses node

import (
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/answer/dnssec"
	"gslb.internal/overwatch/internal/answer/zone"
	"gslb.internal/overwatch/internal/control"
	"gslb.internal/shared/identity"
)

// published returns the number of published keys of the zone of sample.
func published(n *node) int {
	r := n.view().Resolve("gslb.test.", dns.TypeDNSKEY, false, netip.MustParseAddr("192.0.2.1"), new(zone.Rotations))
	return len(r.Answer)
}

// A reload and a start read signing keys equally. If a start would reject them, the reload returns the reason and
// changes nothing.
func TestReload_TakesSigningKeys(t *testing.T) {
	t.Parallel()
	n := opened(t)
	dir := dnssec.Directory(n.state.Config().DataDir)
	beside, _, err := dnssec.OpenKeyring(dir, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	first := beside.Keys("gslb.test.")[0]
	second := first
	for second.Tag() == first.Tag() { // files have the tag in their names
		if second, err = dnssec.Generate(dnssec.ECDSAP256SHA256, "gslb.test.", "tool", time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	if err := beside.Add(second, time.Now(), false); err != nil {
		t.Fatal(err)
	}
	if changes, restart, err := n.control.Reload(t.Context()); err != nil || !slices.Equal(changes, []string{dir}) ||
		len(restart) > 0 || published(n) != 2 {
		t.Fatalf("a reload: %v, changes %q, restart for %q; it publishes %d keys", err, changes, restart, published(n))
	}
	file := filepath.Join(dir, second.FileName()+".private")
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(file, 40); err != nil {
		t.Fatal(err)
	}
	if _, _, err := n.control.Reload(t.Context()); err == nil || !strings.Contains(err.Error(), file) ||
		published(n) != 2 {
		t.Errorf("with a key file that is cut off: %v; it publishes %d keys", err, published(n))
	}
	if err := Validate(n.configPath); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("--validate finds %v", err)
	}
	if err := os.WriteFile(file, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Validate(n.configPath); err != nil {
		t.Errorf("--validate finds %v", err)
	}
	for _, ending := range []string{".key", ".private"} {
		if err := os.Remove(filepath.Join(dir, first.FileName()+ending)); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := n.control.Reload(t.Context()); err != nil || published(n) != 1 ||
		n.zones.Keys()[0].Tag() != second.Tag() {
		t.Errorf("with the first taken away: %v; it publishes %d keys", err, published(n))
	}
}

// A reload reports that another identity takes effect at a restart, since agents would reject the new identity.
func TestReload_TellsThatTheIdentityWaitsForARestart(t *testing.T) {
	t.Parallel()
	n := opened(t)
	dir := n.state.Config().DataDir
	certificate, key := filepath.Join(dir, control.CertificateFile), filepath.Join(dir, control.KeyFile)
	reload := func() []string {
		t.Helper()
		_, restart, err := n.control.Reload(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return restart
	}
	if restart := reload(); len(restart) > 0 {
		t.Errorf("nothing changed, and a restart is called for: %q", restart)
	}
	for what, change := range map[string]func() error{
		"gone": func() error { return os.Remove(key) },
		"other": func() error {
			if err := os.Remove(certificate); err != nil {
				return err
			}
			_ = os.Remove(key)
			_, _, err := identity.LoadOrCreate(certificate, key, "ns1", time.Now())
			return err
		},
	} {
		if err := change(); err != nil {
			t.Fatal(err)
		}
		if restart := reload(); !slices.Equal(restart, []string{certificate}) {
			t.Errorf("%s: a restart is called for because of %q", what, restart)
		}
	}
}
