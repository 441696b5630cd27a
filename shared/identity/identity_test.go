package identity // inside: it uses maxCertificate and waiting

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// files returns the paths of an identity in a directory of the test.
func files(t testing.TB) (cert, key string) {
	dir := t.TempDir()
	return filepath.Join(dir, "agent.crt"), filepath.Join(dir, "agent.key")
}

// made creates an identity in files.
func made(t testing.TB, name string) (id *Identity, cert, key string) {
	t.Helper()
	cert, key = files(t)
	id, created, err := LoadOrCreate(cert, key, name, noon)
	if err != nil || !created {
		t.Fatalf("created %v, %v", created, err)
	}
	return id, cert, key
}

// Fault 17.
func TestLoadOrCreate_KeepsTheIdentityAndItsName(t *testing.T) {
	first, cert, key := made(t, "eu-web-1")
	again, created, err := LoadOrCreate(cert, key, "another-name", noon.AddDate(5, 0, 0))
	if err != nil || created {
		t.Fatalf("created %v, %v", created, err)
	}
	if again.KeyID != first.KeyID || again.CommonName != "eu-web-1" || again.Serial != first.Serial {
		t.Errorf("another identity: %+v", again.Certificate)
	}
	if !strings.HasPrefix(first.KeyID.Fingerprint(), "sha256:") || len(first.KeyID.Fingerprint()) != 7+64 {
		t.Errorf("fingerprint %q", first.KeyID.Fingerprint())
	}
}

// Fault 17.
func TestLoadOrCreate_CertificateIsAsSpecified(t *testing.T) {
	id, cert, key := made(t, "eu-web-1")
	if d := id.NotAfter.Sub(id.NotBefore); d != 365*24*time.Hour {
		t.Errorf("validity of %s, must be one year", d)
	}
	if !id.NotBefore.Before(noon) || id.NotAfter.Before(noon.AddDate(0, 11, 0)) {
		t.Errorf("valid from %s to %s, made at %s", id.NotBefore, id.NotAfter, noon)
	}
	for path, want := range map[string]os.FileMode{cert: 0o644, key: 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: mode %v, %v", path, info.Mode(), err)
		}
	}
	other, _, _ := made(t, "eu-web-1")
	if other.KeyID == id.KeyID || other.Serial == id.Serial {
		t.Error("two identities are the same")
	}
	if names, _ := filepath.Glob(filepath.Join(filepath.Dir(cert), ".*")); len(names) > 0 {
		t.Errorf("left behind: %v", names)
	}
}

// After a crash between two writes, the next start completes the creation.
//
// Fault 17.
func TestLoadOrCreate_CompletesACreationThatWasInterrupted(t *testing.T) {
	for name, c := range map[string]struct {
		keyWritten bool
		kept       bool // the next start returns the identity of the interrupted creation
	}{
		"before the key":                {},
		"before the certificate's name": {keyWritten: true, kept: true},
	} {
		t.Run(name, func(t *testing.T) {
			begun, cert, key := made(t, "eu-web-1")
			err := os.Rename(cert, cert+waiting)
			if !c.keyWritten {
				err = errors.Join(err, os.Remove(key))
			}
			if err != nil {
				t.Fatal(err)
			}
			id, created, err := LoadOrCreate(cert, key, "eu-web-1", noon)
			if err != nil || !created || (id.KeyID == begun.KeyID) != c.kept {
				t.Fatalf("created %v, %v", created, err)
			}
			again, created, err := LoadOrCreate(cert, key, "eu-web-1", noon)
			if err != nil || created || again.KeyID != id.KeyID {
				t.Errorf("the start after it: created %v, %v", created, err)
			}
			if names, _ := os.ReadDir(filepath.Dir(cert)); len(names) != 2 {
				t.Errorf("left behind: %v", names)
			}
		})
	}
}

// A name that is too long for an unfinished file simulates a full disk.
//
// Fault 17.
func TestLoadOrCreate_AFailureToWriteStopsNoLaterStart(t *testing.T) {
	long := strings.Repeat("x", 250)
	for name, full := range map[string]struct{ cert, key string }{
		"certificate": {long, "agent.key"}, "key": {"agent.crt", long},
	} {
		t.Run(name, func(t *testing.T) {
			cert, key := files(t)
			dir := filepath.Dir(cert)
			_, _, err := LoadOrCreate(filepath.Join(dir, full.cert), filepath.Join(dir, full.key), "eu-web-1", noon)
			if err == nil {
				t.Fatal("could be written")
			}
			if _, created, err := LoadOrCreate(cert, key, "eu-web-1", noon); err != nil || !created {
				t.Errorf("the next start: created %v, %v", created, err)
			}
		})
	}
}

// Fault 17.
func TestLoadOrCreate_MakesTheDirectoryForTheOwnerOnly(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	if _, _, err := LoadOrCreate(filepath.Join(dir, "agent.crt"), filepath.Join(dir, "agent.key"), "a", noon); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

// Fault 17.
func TestLoadOrCreate_NeverReplacesWhatItCannotUse(t *testing.T) {
	rewrite := func(change func(text []byte) []byte) func(t *testing.T, path string) {
		return func(t *testing.T, path string) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, change(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	empty := rewrite(func([]byte) []byte { return nil })
	half := rewrite(func(text []byte) []byte { return text[:len(text)/2] })
	garbage := rewrite(func([]byte) []byte { return []byte("garbage\n") })
	twice := rewrite(func(text []byte) []byte { return append(text, text...) })
	flipped := rewrite(func(text []byte) []byte {
		block, _ := pem.Decode(text)
		block.Bytes[len(block.Bytes)-5] ^= 1
		return pem.EncodeToMemory(block)
	})
	gone := func(t *testing.T, path string) {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	foreign := func(which int) func(t *testing.T, path string) {
		return func(t *testing.T, path string) {
			_, cert, key := made(t, "other")
			text, err := os.ReadFile([]string{cert, key}[which])
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	swapped := rewrite(func(text []byte) []byte {
		return bytes.ReplaceAll(bytes.ReplaceAll(text, []byte("CERTIFICATE"), []byte("PUBLIC KEY")), []byte("PRIVATE KEY"),
			[]byte("CERTIFICATE"))
	})
	ecKey := func(t *testing.T, path string) {
		k, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		der, err := x509.MarshalPKCS8PrivateKey(k)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	waits := func(put func(t *testing.T, path string)) func(t *testing.T, path string) {
		return func(t *testing.T, path string) {
			if err := os.Rename(path, path+waiting); err != nil {
				t.Fatal(err)
			}
			put(t, path+waiting)
		}
	}
	for name, c := range map[string]struct {
		damageCert, damageKey func(*testing.T, string)
		names                 string // the file that the error must name
	}{
		"certificate missing":    {damageCert: gone, names: "agent.crt is missing"},
		"key missing":            {damageKey: gone, names: "agent.key is missing"},
		"certificate empty":      {damageCert: empty, names: "agent.crt is damaged"},
		"key empty":              {damageKey: empty, names: "agent.key is damaged"},
		"certificate half there": {damageCert: half, names: "agent.crt is damaged"},
		"key half there":         {damageKey: half, names: "agent.key is damaged"},
		"certificate garbage":    {damageCert: garbage, names: "agent.crt is damaged"},
		"key garbage":            {damageKey: garbage, names: "agent.key is damaged"},
		"certificate flipped":    {damageCert: flipped, names: "agent.crt"},
		"certificate twice":      {damageCert: twice, names: "agent.crt is damaged"},
		"key of another":         {damageKey: foreign(1), names: "agent.key does not belong to"},
		"certificate of another": {damageCert: foreign(0), names: "agent.key does not belong to"},
		"another's one waits":    {damageCert: waits(foreign(0)), names: "agent.crt is missing"},
		"half a one waits":       {damageCert: waits(half), names: "agent.crt is missing"},
		"one waits, key damaged": {damageCert: waits(func(*testing.T, string) {}), damageKey: half, names: "agent.crt is missing"},
		"key of another kind":    {damageKey: ecKey, names: "agent.key holds a key of another kind"},
		"certificate mislabeled": {damageCert: swapped, names: "agent.crt is damaged"},
		"key mislabeled":         {damageKey: swapped, names: "agent.key is damaged"},
	} {
		t.Run(name, func(t *testing.T) {
			_, cert, key := made(t, "eu-web-1")
			if c.damageCert != nil {
				c.damageCert(t, cert)
			}
			if c.damageKey != nil {
				c.damageKey(t, key)
			}
			before := snapshot(t, filepath.Dir(cert))
			_, created, err := LoadOrCreate(cert, key, "eu-web-1", noon)
			if err == nil || created {
				t.Fatalf("created %v, %v", created, err)
			}
			for _, want := range []string{c.names, "delete both files", "the pin"} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q does not say %q", err, want)
				}
			}
			if after := snapshot(t, filepath.Dir(cert)); before != after {
				t.Error("files were changed")
			}
		})
	}
}

// snapshot returns all files of a directory with their contents.
func snapshot(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all.WriteString(e.Name() + "\n" + string(text))
	}
	return all.String()
}

// Fault 17.
func TestLoadOrCreate_KeyThatOthersCanReadIsRefusedWithTheCommandThatHelps(t *testing.T) {
	for _, mode := range []os.FileMode{0o640, 0o604, 0o620, 0o644} {
		_, cert, key := made(t, "eu-web-1")
		if err := os.Chmod(key, mode); err != nil {
			t.Fatal(err)
		}
		_, _, err := LoadOrCreate(cert, key, "eu-web-1", noon)
		if err == nil || !strings.Contains(err.Error(), "chmod 600 "+key) {
			t.Errorf("mode %o: error is %v", mode, err)
		}
	}
}

// Fault 17.
func TestLoadOrCreate_ReportsWhatCannotBeWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{filepath.Join(file, "below"), "/proc/no/such"} {
		_, _, err := LoadOrCreate(filepath.Join(dir, "agent.crt"), filepath.Join(dir, "agent.key"), "a", noon)
		if err == nil || !strings.Contains(err.Error(), dir) {
			t.Errorf("%s: error is %v", dir, err)
		}
	}
	cert, key := files(t)
	if _, _, err := LoadOrCreate(cert, key, "not an id", noon); err == nil {
		t.Error("made an identity with an impossible name")
	}
}

func TestValidateID(t *testing.T) {
	for _, id := range []string{"a", "A-1", "eu-west-web.example_1", strings.Repeat("x", MaxID), "1"} {
		if err := ValidateID(id); err != nil {
			t.Errorf("%q: %v", id, err)
		}
	}
	for _, id := range []string{"", strings.Repeat("x", MaxID+1), "-a", ".a", "a b", "a/b", "a:b", "é", "a\n",
		"expiring"} {
		if ValidateID(id) == nil {
			t.Errorf("%q is accepted", id)
		}
	}
}

// certificate creates a certificate from a template after a change by the test.
func certificate(t *testing.T, change func(*x509.Certificate)) []byte {
	t.Helper()
	pub, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "a"}, NotBefore: noon,
		NotAfter: noon.Add(Validity)}
	change(template)
	der, err := x509.CreateCertificate(rand.Reader, template, template, pub, key)
	if err != nil {
		t.Fatal(err)
	}
	return der
}

func TestParseCertificate_RefusesWhatIsNotOurs(t *testing.T) {
	good := certificate(t, func(*x509.Certificate) {})
	if _, err := ParseCertificate(good); err != nil {
		t.Fatalf("the good one: %v", err)
	}
	ecKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "a"}, NotBefore: noon,
		NotAfter: noon.Add(Validity)}
	ec, err := x509.CreateCertificate(rand.Reader, template, template, ecKey.Public(), ecKey)
	if err != nil {
		t.Fatal(err)
	}
	pub, _, _ := ed25519.GenerateKey(rand.Reader)
	_, otherKey, _ := ed25519.GenerateKey(rand.Reader)
	parent := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "a"}}
	bySomebody, err := x509.CreateCertificate(rand.Reader, template, parent, pub, otherKey)
	if err != nil {
		t.Fatal(err)
	}
	for name, der := range map[string][]byte{
		"nothing":             nil,
		"garbage":             []byte("garbage"),
		"too large":           make([]byte, maxCertificate+1),
		"octets behind it":    append(bytes.Clone(good), 0),
		"truncated":           good[:len(good)-1],
		"another kind of key": ec,
		"signed by another":   bySomebody,
		"no name":             certificate(t, func(c *x509.Certificate) { c.Subject.CommonName = "" }),
		"name with a newline": certificate(t, func(c *x509.Certificate) { c.Subject.CommonName = "a\nb" }),
		"valid for two years": certificate(t, func(c *x509.Certificate) { c.NotAfter = noon.Add(2 * Validity) }),
		"never valid":         certificate(t, func(c *x509.Certificate) { c.NotAfter = noon.Add(-time.Hour) }),
	} {
		if _, err := ParseCertificate(der); !errors.Is(err, ErrCertificate) {
			t.Errorf("%s: error is %v", name, err)
		}
	}
}

func TestParseCertificate_NoOctetCanBeChanged(t *testing.T) {
	good := certificate(t, func(*x509.Certificate) {})
	for i := range good {
		changed := bytes.Clone(good)
		changed[i] ^= 0x01
		if c, err := ParseCertificate(changed); err == nil && c.KeyID == KeyIDOf(good) {
			t.Errorf("octet %d does not matter", i)
		} else if err == nil {
			t.Errorf("octet %d: accepted as another certificate", i)
		}
	}
}

func TestNextEpoch_AlwaysGrows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agent.epoch")
	var last uint64
	for _, now := range []time.Time{noon, noon, noon.Add(time.Hour), noon.AddDate(-10, 0, 0), time.Unix(-5, 0),
		noon.Add(2 * time.Hour)} {
		epoch, err := NextEpoch(path, now)
		if err != nil || epoch <= last {
			t.Errorf("epoch %d after %d, %v", epoch, last, err)
		}
		last = epoch
	}
	if last != uint64(noon.Add(2*time.Hour).UnixMilli()) {
		t.Errorf("epoch %d is not the time again", last)
	}
	for _, text := range []string{"", "garbage", "-1", "99999999999999999999999"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if epoch, err := NextEpoch(path, noon); err != nil || epoch != uint64(noon.UnixMilli()) {
			t.Errorf("with %q in the file: epoch %d, %v", text, epoch, err)
		}
	}
	if epoch, err := NextEpoch("/proc/no/such", noon); err == nil || epoch != uint64(noon.UnixMilli()) {
		t.Errorf("cannot be remembered: epoch %d, %v", epoch, err)
	}
}
