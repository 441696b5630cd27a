package cli // inside: it shares fake_test.go

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"
	"github.com/miekg/dns"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/gslbctl/internal/fleet"
)

const phrase = "six words that nobody else has"

// keysOnDisk creates a directory with a key in the format of a node, and returns the name of the public half.
func keysOnDisk(t *testing.T) (dir, public string) {
	t.Helper()
	k := &dns.DNSKEY{Hdr: dns.RR_Header{Name: "example.com.", Rrtype: dns.TypeDNSKEY, Class: dns.ClassINET}, Flags: 257,
		Protocol: 3, Algorithm: dns.ED25519}
	private, err := k.Generate(256)
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	base := fmt.Sprintf("Kexample.com.+015+%05d", k.KeyTag())
	writeFile(t, filepath.Join(dir, base+".key"), 0o644, k.String()+"\n")
	writeFile(t, filepath.Join(dir, base+".private"), 0o600, k.PrivateKeyString(private)+"Created: 20260101000000\n")
	return dir, base + ".key"
}

func writeFile(t *testing.T, path string, mode os.FileMode, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

// typing returns a terminal on which answers are typed.
func typing(answers ...string) cmdline.System {
	return cmdline.System{Asks: true, Secret: func(context.Context, string) (string, error) {
		if len(answers) == 0 {
			return "", errors.New("asked once more")
		}
		next := answers[0]
		answers = answers[1:]
		return next, nil
	}}
}

// sealCheaply encrypts a file with a passphrase and low work factor, so that decryption is fast.
func sealCheaply(t *testing.T, path string) {
	t.Helper()
	by, err := age.NewScryptIdentity(phrase)
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	opened, err := age.Decrypt(bytes.NewReader(sealed), by)
	if err != nil {
		t.Fatal(err)
	}
	to, err := age.NewScryptRecipient(phrase)
	if err != nil {
		t.Fatal(err)
	}
	to.SetWorkFactor(4)
	var again bytes.Buffer
	w, err := age.Encrypt(&again, to)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(w, opened); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	writeFile(t, path, 0o600, again.String())
}

func TestDNSSECBackup_AndRestore(t *testing.T) {
	if testing.Short() {
		t.Skip("scrypt takes half a minute with the race detector: make test-all runs it without")
	}
	keys, public := keysOnDisk(t)
	file, to := filepath.Join(t.TempDir(), "keys.age"), filepath.Join(t.TempDir(), "dnssec")
	run := func(sys cmdline.System, args string) result { return call(t, sys, nil, strings.Fields(args)...) }
	r := run(typing(phrase, phrase), "dnssec backup "+file+" --keys "+keys)
	if r.code != 0 || !strings.Contains(r.out, "1 key") || r.errors != "" {
		t.Fatalf("backup: %+v", r)
	}
	if r := run(typing(), "dnssec backup "+file+" --keys "+keys); r.code != 2 || !strings.Contains(r.errors, "exists") {
		t.Errorf("over another: %+v", r)
	}
	sealCheaply(t, file)
	restore := "dnssec restore " + file + " --keys " + to
	if r := run(typing(phrase), restore+" --dry-run"); r.code != 0 || !strings.Contains(r.out, "add") {
		t.Errorf("dry run: %+v", r)
	}
	if _, err := os.Stat(to); !os.IsNotExist(err) {
		t.Fatalf("something was restored: %v", err)
	}
	from := filepath.Join(t.TempDir(), "passphrase")
	writeFile(t, from, 0o600, phrase+"\n")
	if r := run(cmdline.System{}, restore+" -o json --passphrase-file "+from); r.code != 0 ||
		!strings.Contains(r.out, `"changed": true`) || !strings.Contains(r.out, `"action": "add"`) {
		t.Errorf("restore: %+v", r)
	}
	writeFile(t, filepath.Join(to, public), 0o644, "another\n")
	if r := run(cmdline.System{In: strings.NewReader(phrase + "\n")}, restore+" --passphrase-fd 0"); r.code != 1 ||
		!strings.Contains(r.out, "differs") || !strings.Contains(r.errors, fleet.NothingChanged) {
		t.Errorf("over a file that differs: %+v", r)
	}
}

// Errors of a passphrase or a file are reported before any write, and without an unnecessary prompt for the passphrase.
func TestDNSSECBackup_SaysWhatIsWrong(t *testing.T) {
	keys, _ := keysOnDisk(t)
	file := filepath.Join(t.TempDir(), "keys.age")
	open, empty := filepath.Join(t.TempDir(), "open"), filepath.Join(t.TempDir(), "empty")
	writeFile(t, open, 0o644, phrase)
	writeFile(t, empty, 0o600, "")
	backup := "dnssec backup " + file + " --keys " + keys
	for args, c := range map[string]struct {
		sys  cmdline.System
		says string
	}{
		backup: {cmdline.System{}, "no terminal"}, backup + " ": {typing("short", "short"), "5 characters"},
		backup + "  ":                          {typing(phrase, phrase+"r"), "differ"},
		backup + " --passphrase-file " + open:  {cmdline.System{}, "chmod 600"},
		backup + " --passphrase-file " + empty: {cmdline.System{}, "empty"},
		backup + " --passphrase-file " + file:  {cmdline.System{}, "no such file"},
		backup + " --passphrase-fd -2":         {cmdline.System{}, "-2"},
		backup + " --passphrase-fd 987":        {cmdline.System{}, "descriptor"},
		backup + "   --passphrase-fd 0": {cmdline.System{In: strings.NewReader(strings.Repeat("x",
			9999))}, "4096"},
		backup + " --passphrase-fd 0":                 {cmdline.System{}, "empty"},
		"dnssec backup " + file + " --keys " + open:   {typing(), open},
		"dnssec backup " + file + " --keys /no/where": {typing(), "/no/where"},
		"dnssec restore " + file:                      {typing(), "no such file"},
		"dnssec restore " + keys:                      {typing(), "is no file"},
		"dnssec restore " + open:                      {typing(phrase), "not sealed by age"},
	} {
		if r := call(t, c.sys, nil, strings.Fields(args)...); r.code != 2 || !strings.Contains(r.errors, c.says) {
			t.Errorf("%s: %+v, want %q", args, r, c.says)
		}
	}
	if _, err := os.Stat(file); !os.IsNotExist(err) {
		t.Errorf("a file was written: %v", err)
	}
}
