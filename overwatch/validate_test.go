package overwatch // inside: it shares ahead_test.go

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/settings"
)

// sample writes a configuration with a metrics listener at an address.
func sample(t *testing.T, dataDir, metrics string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "overwatch.yaml")
	text := fmt.Sprintf(`
mode: overwatch
data_dir: %q
overwatch:
  identity: {node_id: ns1, region: eu}
  gossip: {bind_address: "127.0.0.1:0", encryption_key: %q}
dns: {listen_address: "127.0.0.1:0", zones: [gslb.test]}
metrics: {enabled: true, address: %q}
`, dataDir, base64.StdEncoding.EncodeToString(make([]byte, 32)), metrics)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestValidate_FindsAPortInUseUnlessTheNodeItselfHasIt(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	dir := t.TempDir()
	path := sample(t, dir, taken.Addr().String())
	problems, ok := errors.AsType[settings.Problems](Validate(path))
	if !ok || len(problems) != 1 || problems[0].Key != "metrics.address" ||
		!strings.Contains(problems[0].Message, "another process has tcp port") {
		t.Errorf("found %v, want the port that is in use", problems)
	}
	running, err := store.Open(dir, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer running.Close()
	if err := Validate(path); err != nil {
		t.Errorf("a node that runs disturbs the validation of its own configuration: %v", err)
	}
}

// DNS on [::] is IPv6 only, so IPv4 sockets of another process do not conflict.
func TestValidate_TriesWhatTheNodeWouldOpen(t *testing.T) {
	for _, c := range []struct {
		taken, network, listen string
		want                   bool
	}{{"0.0.0.0:0", "tcp4", "[::]", true}, {"[::]:0", "tcp6", "[::]", false}, {"[::]:0", "tcp6", "0.0.0.0", true},
		{"0.0.0.0:0", "tcp4", "", false}} {
		t.Run(c.network+" taken, "+c.listen, func(t *testing.T) {
			var err error
			for range 20 { // another program may use the port for the other family or for UDP
				taken, listening := net.Listen(c.network, c.taken)
				if listening != nil {
					t.Skipf("this machine lacks a family: %v", listening)
				}
				_, port, _ := net.SplitHostPort(taken.Addr().String())
				path := sample(t, t.TempDir(), "127.0.0.1:0")
				text, failed := os.ReadFile(path)
				if failed != nil {
					t.Fatal(failed)
				}
				text = bytes.Replace(text, []byte(`listen_address: "127.0.0.1:0"`),
					[]byte(`listen_address: "`+c.listen+`:`+port+`"`), 1)
				if failed := os.WriteFile(path, text, 0o600); failed != nil {
					t.Fatal(failed)
				}
				err = Validate(path)
				_ = taken.Close()
				if err == nil || !c.want {
					break
				}
			}
			if (err == nil) != c.want {
				t.Errorf("valid is %t: %v", !c.want, err)
			}
		})
	}
}

func TestValidate_GeolocationDatabaseMustHavePlaces(t *testing.T) {
	const databases = "internal/answer/geo/testdata/"
	for file, want := range map[string]struct{ problem, caution string }{
		"GeoLite2-ASN-Test.mmdb":                     {"no record has a country", ""},
		"GeoLite2-Country-Test.mmdb":                 {"", ""},
		"MaxMind-DB-test-broken-search-tree-24.mmdb": {"", "the file cannot be used"},
		"missing.mmdb":                               {"", "the file cannot be used"},
	} {
		path := sample(t, t.TempDir(), "127.0.0.1:0")
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text = bytes.Replace(text, []byte("  gossip:"),
			[]byte("  geolocation: {database_path: "+databases+file+"}\n  gossip:"), 1)
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		problem := fmt.Sprint(Validate(path))
		if !strings.Contains(problem, want.problem) || (problem == "<nil>") != (want.problem == "") {
			t.Errorf("%s: %s, want %q", file, problem, want.problem)
		}
		cautions := strings.Join(Cautions(path), "\n")
		if strings.Contains(cautions, "database_path") != (want.caution != "") || !strings.Contains(cautions, want.caution) {
			t.Errorf("%s: cautions %q, want %q", file, cautions, want.caution)
		}
	}
}

func TestCautions_NameServerWithPrivateAddressesOnly(t *testing.T) {
	const sentence = "the name server ns1.gslb.test. has no address record"
	for listen, want := range map[string]bool{"10.255.255.1:5353": true, "203.0.113.10:5353": false} {
		path := sample(t, t.TempDir(), "127.0.0.1:0")
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text = bytes.Replace(text, []byte(`listen_address: "127.0.0.1:0"`), []byte(`listen_address: "`+listen+`"`), 1)
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(Cautions(path), "\n"); strings.Contains(got, sentence) != want {
			t.Errorf("listening on %s: cautions %q", listen, got)
		}
	}
}

func TestValidate_FindsAnAddressOfAnotherMachineAndAFileInPlaceOfTheDirectory(t *testing.T) {
	path := sample(t, os.Args[0], "192.0.2.7:9090")
	problems, ok := errors.AsType[settings.Problems](Validate(path))
	if !ok || len(problems) != 2 || problems[0].Key != "data_dir" ||
		!strings.Contains(problems[1].Message, "does not have the address") {
		t.Errorf("found %v", problems)
	}
}
