package dnssec // inside: it uses parsePrivate, privateText and wireName

import (
	"bytes"
	"encoding/base64"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/answer/zone"
)

const apex = "gslb.test."

var start = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func mustGenerate(t testing.TB, now time.Time) *Key {
	t.Helper()
	k, err := Generate(ECDSAP256SHA256, apex, "node1", now)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func mustOpen(t testing.TB, dir string) *Keyring {
	t.Helper()
	r, _, err := OpenKeyring(dir, start)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func wire(t testing.TB, name string) []byte {
	t.Helper()
	w, err := wireName(name)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// unpackSignature returns the record as resolvers receive it.
func unpackSignature(t testing.TB, owner string, ttl uint32, rdata []byte) *dns.RRSIG {
	t.Helper()
	rr, _, err := dns.UnpackRRWithHeader(dns.RR_Header{Name: owner, Rrtype: dns.TypeRRSIG, Class: dns.ClassINET, Ttl: ttl,
		Rdlength: uint16(len(rdata))}, rdata, 0)
	if err != nil {
		t.Fatal(err)
	}
	return rr.(*dns.RRSIG)
}

func TestSign_ValidatesWithThePublicKey(t *testing.T) {
	k := mustGenerate(t, start)
	w := Window{start.Add(-time.Hour), start.Add(14 * 24 * time.Hour)}
	for _, owner := range []string{"app.gslb.test.", "*.gslb.test.", "gslb.test."} {
		var rrs []dns.RR
		set := zone.RRset{Owner: wire(t, owner), Type: dns.TypeA, TTL: 30}
		for _, a := range []string{"10.0.0.1", "192.0.2.1", "192.0.2.200"} {
			ip := netip.MustParseAddr(a)
			set.RData = append(set.RData, ip.AsSlice())
			rrs = append(rrs, &dns.A{Hdr: dns.RR_Header{Name: owner, Rrtype: dns.TypeA, Class: dns.ClassINET, Ttl: 30},
				A: ip.AsSlice()})
		}
		rdata, err := k.sign(wire(t, apex), set, w)
		if err != nil {
			t.Fatal(err)
		}
		sig := unpackSignature(t, owner, 30, rdata)
		if err := sig.Verify(k.DNSKEY(30), rrs); err != nil {
			t.Errorf("%s: %v", owner, err)
		}
		if !sig.ValidityPeriod(start) || sig.ValidityPeriod(start.Add(15*24*time.Hour)) {
			t.Errorf("%s: valid from %d to %d", owner, sig.Inception, sig.Expiration)
		}
		again, err := k.sign(wire(t, apex), set, w)
		if err != nil || string(again) != string(rdata) {
			t.Errorf("%s: a second signature differs (%v)", owner, err)
		}
	}
}

func TestKeyring_KeepsKeysInBINDsFormat(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "dnssec")
	r := mustOpen(t, dir)
	newer, oldest := mustGenerate(t, start), mustGenerate(t, start.Add(-time.Hour))
	for _, k := range []*Key{newer, oldest, newer} {
		if err := r.Add(k, start, false); err != nil {
			t.Fatal(err)
		}
	}
	r = mustOpen(t, dir)
	keys := r.Keys("GSLB.test")
	if len(keys) != 2 || keys[0].Tag() != oldest.Tag() || keys[1].Tag() != newer.Tag() {
		t.Fatalf("keys %v", keys)
	}
	if k := keys[0]; !k.Created().Equal(start.Add(-time.Hour)) || k.Origin() != "node1" ||
		k.PublicKey() != oldest.PublicKey() || !sameSecret(k, oldest) {
		t.Errorf("read back as %+v", k)
	}
	private := filepath.Join(dir, newer.FileName()+privateEnding)
	if info, err := os.Stat(private); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	// miekg/dns parses the format independently.
	f, err := os.Open(private)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := newer.DNSKEY(0).ReadPrivateKey(f, private); err != nil {
		t.Error(err)
	}
}

// Fault 16.
func TestKeyring_NamesADamagedFileAndMakesNoKey(t *testing.T) {
	for want, damage := range map[string]func(base string) error{
		"is missing, but its counterpart exists": func(base string) error { return os.Remove(base + ".key") },
		".private is missing, but":               func(base string) error { return os.Remove(base + ".private") },
		"run: chmod 600":                         func(base string) error { return os.Chmod(base+".private", 0o640) },
		`Private-key-format is ""`: func(base string) error {
			return os.WriteFile(base+".private", nil,
				0o600)
		},
		"contains no record": func(base string) error { return os.Truncate(base+".key", 0) },
		"octets; the maximum is": func(base string) error {
			return os.Truncate(base+".private", 1<<20)
		},
		"the private key does not belong to the public": swapPrivate,
		"the name must be": func(base string) error { return rename(base, base+"1") },
		"has the algorithm 8; 13 (ECDSAP256SHA256) and 15 (ED25519) can be used": replaceIn(".private",
			"13 (ECDSAP256SHA256)",
			"8 (RSASHA256)"),
		"PrivateKey is not base64": replaceIn(".private", "PrivateKey: ",
			"PrivateKey: !"),
		"flags 256, protocol 3; only": replaceIn(".key", "DNSKEY 257", "DNSKEY 256"),
		`Created is "x`:               replaceIn(".private", "Created: ", "Created: x"),
	} {
		t.Run(want, func(t *testing.T) {
			dir := t.TempDir()
			r := mustOpen(t, dir)
			k := mustGenerate(t, start)
			if err := r.Add(k, start, false); err != nil {
				t.Fatal(err)
			}
			base := filepath.Join(dir, k.FileName())
			if err := damage(base); err != nil {
				t.Fatal(err)
			}
			r, _, err := OpenKeyring(dir, start)
			if err == nil {
				err = r.Damage()
			}
			if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), base) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func swapPrivate(base string) error {
	k, err := Generate(ECDSAP256SHA256, apex, "", start)
	if err != nil {
		return err
	}
	text, err := k.privateText()
	if err != nil {
		return err
	}
	return os.WriteFile(base+".private", text, 0o600)
}

func rename(from, to string) error {
	if err := os.Rename(from+".key", to+".key"); err != nil {
		return err
	}
	return os.Rename(from+".private", to+".private")
}

func replaceIn(ending, old, with string) func(string) error {
	return func(base string) error {
		content, err := os.ReadFile(base + ending)
		if err != nil {
			return err
		}
		return os.WriteFile(base+ending, []byte(strings.Replace(string(content), old, with, 1)), 0o600)
	}
}

func TestKeyring_BoundsTheKeysOfAZone(t *testing.T) {
	r := mustOpen(t, t.TempDir())
	for i := range MaxKeys + 1 {
		err := r.Add(mustGenerate(t, start.Add(time.Duration(i)*time.Second)), start, false)
		if full := i == MaxKeys; full != (err != nil) {
			t.Fatalf("key %d: %v", i, err)
		}
	}
}

func TestState_FollowsTheTimesOfTheKey(t *testing.T) {
	k := mustGenerate(t, start)
	k.activate, k.inactive = start.Add(time.Hour), start.Add(2*time.Hour)
	for after, want := range map[time.Duration]State{0: Published, time.Hour: Active, 2 * time.Hour: Retired} {
		if got := k.State(start.Add(after)); got != want {
			t.Errorf("after %v: %s, want %s", after, got, want)
		}
	}
}

func TestDS_IsThatOfThePublishedKey(t *testing.T) {
	k := mustGenerate(t, start)
	ds := k.DS(3600)
	if ds.KeyTag != k.Tag() || ds.Algorithm != uint8(ECDSAP256SHA256) || ds.DigestType != 2 || len(ds.Digest) != 64 {
		t.Errorf("DS %v", ds)
	}
}

func FuzzParsePrivate(f *testing.F) {
	k := mustGenerate(f, start)
	text, err := k.privateText()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Fuzz(func(t *testing.T, content []byte) {
		k, err := parsePrivate(apex, content)
		if err == nil && k.PublicKey() == "" {
			t.Error("a key without public part")
		}
	})
}

func FuzzAppendSignature(f *testing.F) {
	f.Add([]byte{0x30, 6, 2, 1, 1, 2, 1, 1})
	f.Fuzz(func(t *testing.T, der []byte) {
		if out, err := appendSignature(nil, der); err == nil && len(out) != signatureSize {
			t.Errorf("%d octets", len(out))
		}
	})
}

func BenchmarkSign(b *testing.B) {
	k := mustGenerate(b, start)
	set := zone.RRset{Owner: wire(b, "app.gslb.test."), Type: dns.TypeA, TTL: 30, RData: [][]byte{{192, 0, 2, 1}}}
	w, signer := Window{start, start.Add(time.Hour)}, wire(b, apex)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := k.sign(signer, set, w); err != nil {
			b.Fatal(err)
		}
	}
}

// BIND rejects a .private file with an unknown field.
func TestKeyring_WritesOnlyFieldsThatBINDKnows(t *testing.T) {
	k := mustGenerate(t, start)
	k.inactive = start.Add(time.Hour)
	text, err := k.privateText()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		switch name, _, _ := strings.Cut(line, ":"); name {
		case "Private-key-format", "Algorithm", "PrivateKey", "Created", "Publish", "Activate", "Inactive":
		default:
			t.Errorf("field %q", name)
		}
	}
}

// dnssec-keygen omits the first octet of a private key if the octet is zero.
func TestParsePrivate_TakesAKeyWithoutItsLeadingZero(t *testing.T) {
	const file = "Private-key-format: v1.3\nAlgorithm: 13 (ECDSAP256SHA256)\nPrivateKey: "
	short := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{7}, 31))
	whole := base64.StdEncoding.EncodeToString(append([]byte{0}, bytes.Repeat([]byte{7}, 31)...))
	a, err := parsePrivate("example.", []byte(file+short+"\n"))
	if err != nil {
		t.Fatal(err)
	}
	b, err := parsePrivate("example.", []byte(file+whole+"\n"))
	if err != nil || !sameSecret(a, b) {
		t.Errorf("the same key with its zero: %v", err)
	}
	for _, wrong := range []string{"", base64.StdEncoding.EncodeToString(make([]byte, 33))} {
		if _, err := parsePrivate("example.", []byte(file+wrong+"\n")); err == nil {
			t.Errorf("%q is taken for a key", wrong)
		}
	}
}

func sameSecret(a, b *Key) bool {
	one, err := a.private.bytes()
	other, failed := b.private.bytes()
	return err == nil && failed == nil && bytes.Equal(one, other)
}

// A key of each algorithm is written and read, and its signatures validate.
func TestKey_OfEachAlgorithm(t *testing.T) {
	for _, a := range []Algorithm{ECDSAP256SHA256, ED25519} {
		k, err := Generate(a, "gslb.test", "node1", start)
		if err != nil {
			t.Fatal(err)
		}
		text, err := k.privateText()
		if err != nil {
			t.Fatal(err)
		}
		again, err := parsePrivate(k.zone, text)
		if err != nil || again.PublicKey() != k.PublicKey() || again.Algorithm() != a || !sameSecret(k, again) {
			t.Errorf("%s: read back as %+v, %v", a, again, err)
		}
		if record, err := parsePublic(k.publicText()); err != nil || record.KeyTag() != k.tag ||
			ParseAlgorithm(a.String()) != a {
			t.Errorf("%s: %v, %v", a, record, err)
		}
		p, err := k.portable()
		if err != nil {
			t.Fatal(err)
		}
		if moved, err := p.key(start); err != nil || !sameSecret(k, moved) || moved.tag != k.tag {
			t.Errorf("%s: carried as %+v, %v", a, moved, err)
		}
		p.Private = p.Private[1:]
		if moved, err := p.key(start); err == nil {
			t.Errorf("%s: a private key that is short is taken for %+v", a, moved)
		}
		name, err := wireName(k.zone)
		if err != nil {
			t.Fatal(err)
		}
		set := zone.RRset{Owner: name, Type: dns.TypeA, TTL: 60, RData: [][]byte{{192, 0, 2, 1}}}
		data, err := k.sign(name, set, Window{start, start.Add(time.Hour)})
		if err != nil {
			t.Fatal(err)
		}
		sig := &dns.RRSIG{Hdr: dns.RR_Header{Name: k.zone, Rrtype: dns.TypeRRSIG, Class: dns.ClassINET, Ttl: 60},
			TypeCovered: dns.TypeA, Algorithm: uint8(a), Labels: 2, OrigTtl: 60, Expiration: uint32(start.Add(time.Hour).Unix()),
			Inception: uint32(start.Unix()), KeyTag: k.tag, SignerName: k.zone,
			Signature: base64.StdEncoding.EncodeToString(data[len(data)-signatureSize:])}
		hdr := dns.RR_Header{Name: k.zone, Rrtype: dns.TypeA, Class: dns.ClassINET, Ttl: 60}
		rr := &dns.A{Hdr: hdr, A: []byte{192, 0, 2, 1}}
		if err := sig.Verify(k.DNSKEY(60), []dns.RR{rr}); err != nil {
			t.Errorf("%s: %v", a, err)
		}
	}
}

// A key that cannot be written does not become a key of the zone. Its record in memory and on disk does not contain the
// key.
func TestAdd_AFailureLeavesTheZoneAsItWas(t *testing.T) {
	for _, ending := range []string{privateEnding, publicEnding} {
		w := open(t, t.TempDir())
		w.signer(t)
		k := w.another(t)
		obstacle := filepath.Join(w.dir, k.FileName()+ending)
		if err := os.MkdirAll(filepath.Join(obstacle, "inside"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := w.keyring.Add(k, start, false); err == nil {
			t.Fatalf("%s: no error", ending)
		}
		kept, _, err := readRecord(w.dir, apex)
		if err != nil || len(kept.Entries) != 1 || len(w.keyring.recordOf(apex).Entries) != 1 {
			t.Errorf("%s: the record has %+v, on disk %+v (%v)", ending, w.keyring.recordOf(apex), kept, err)
		}
		if err := os.RemoveAll(obstacle); err != nil {
			t.Fatal(err)
		}
		if again := open(t, w.dir); again.Damage() != nil || len(again.keyring.Keys(apex)) != 1 {
			t.Errorf("%s: a restart finds %v, damage %v", ending, again.keyring.Keys(apex), again.Damage())
		}
		if err := w.keyring.Add(k, start, false); err != nil || len(w.keyring.Keys(apex)) != 2 {
			t.Errorf("%s: the second time %v, %v", ending, w.keyring.Keys(apex), err)
		}
	}
}
