package keybackup // inside: it seals with little work

import (
	"archive/tar"
	"bytes"
	"crypto"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"filippo.io/age"
	"github.com/miekg/dns"
)

const secret = "six words that nobody else has"

var made = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// keyFiles creates the files of a key in the format of a node.
func keyFiles(t *testing.T, zone string, algorithm uint8) []File {
	t.Helper()
	k := &dns.DNSKEY{Hdr: dns.RR_Header{Name: zone, Rrtype: dns.TypeDNSKEY, Class: dns.ClassINET}, Flags: 257,
		Protocol: 3, Algorithm: algorithm}
	private, err := k.Generate(256)
	if err != nil {
		t.Fatal(err)
	}
	return filesOf(k, private)
}

func filesOf(k *dns.DNSKEY, private crypto.PrivateKey) []File {
	base := fmt.Sprintf("K%s+%03d+%05d", k.Hdr.Name, k.Algorithm, k.KeyTag())
	return []File{{base + ".key", []byte("; a comment\n" + k.String() + "\n")},
		{base + ".private", []byte(k.PrivateKeyString(private) + "Created: 20260301120000\n")}}
}

// record returns the key record of a zone for a backup, with all keys withdrawn or none.
func record(t *testing.T, zone string, withdrawn bool, files ...File) File {
	t.Helper()
	keys, err := keysOf(files)
	if err != nil {
		t.Fatal(err)
	}
	text := `{"keys":[`
	for i, k := range keys {
		text += strings.Repeat(",", min(i, 1)) + fmt.Sprintf(`{"key_tag":%d,"public_key":%q`, k.Tag, k.public)
		if withdrawn {
			text += `,"withdrawn":"2026-03-02T00:00:00Z"`
		}
		text += "}"
	}
	return File{recordName(zone), []byte(text + "]}\n")}
}

func folder(t *testing.T, files ...File) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(dir, f.Name), f.Content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// seen returns the mode and content of each file in a directory tree, by relative path.
func seen(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		content, err := os.ReadFile(path)
		all[strings.TrimPrefix(path, dir+"/")] = fmt.Sprintf("%v %s", info.Mode(), content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func sealed(t *testing.T, files ...File) []byte {
	t.Helper()
	to, err := age.NewScryptRecipient(secret)
	if err != nil {
		t.Fatal(err)
	}
	to.SetWorkFactor(4)
	var out bytes.Buffer
	if err := seal(&out, to, &Backup{MadeAt: made, Host: "ns1", Files: files}); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func opened(t *testing.T, files ...File) *Backup {
	t.Helper()
	b, err := Open(bytes.NewReader(sealed(t, files...)), secret)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func planned(t *testing.T, dir string, b *Backup, zones ...string) []Step {
	t.Helper()
	steps, err := Plan(dir, b, zones)
	if err != nil {
		t.Fatal(err)
	}
	return steps
}

func actions(steps []Step) (all []Action) {
	for _, s := range steps {
		all = append(all, s.Action)
	}
	return all
}

// A restore into a missing directory creates all key files with their content and the file modes of a node, and no
// other files. A second restore changes nothing.
func TestBackup_ComesBackAsItWas(t *testing.T) {
	one, two := keyFiles(t, "example.com.", dns.ECDSAP256SHA256), keyFiles(t, "example.org.", dns.ED25519)
	of := folder(t, slices.Concat(one, two, []File{record(t, "example.com.", false, one...),
		{one[0].Name + ".aside", []byte("gone")},
		{"." + one[0].Name + ".123.being-written", []byte("half")}, {"notes", nil}})...)
	files, keys, err := Read(of)
	if err != nil || len(files) != 5 || len(keys) != 2 || keys[0].Created != made {
		t.Fatalf("%d files, %+v: %v", len(files), keys, err)
	}
	b := opened(t, files...)
	if b.MadeAt != made || b.Host != "ns1" || !slices.Equal(b.Keys, keys) {
		t.Errorf("the backup is %+v", b)
	}
	to := filepath.Join(t.TempDir(), "dnssec")
	steps := planned(t, to, b)
	if _, err := os.Stat(to); !os.IsNotExist(err) {
		t.Errorf("the plan made the folder: %v", err)
	}
	if err := Apply(to, steps); err != nil {
		t.Fatal(err)
	}
	got, want := seen(t, to), map[string]string{}
	for _, f := range files {
		mode := "-rw-------"
		if strings.HasSuffix(f.Name, ".key") {
			mode = "-rw-r--r--"
		}
		want[f.Name] = mode + " " + string(f.Content)
	}
	if !maps.Equal(got, want) {
		t.Errorf("restored\n%v\nwant\n%v", got, want)
	}
	if info, err := os.Stat(to); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder is %v, %v", info, err)
	}
	if again := planned(t, to, b); !slices.Equal(actions(again), []Action{Keep, Keep}) {
		t.Errorf("again: %+v", again)
	}
}

// A restore never overwrites files, and reports newer data in the directory.
func TestRestore_FolderIsNewer(t *testing.T) {
	old, newer := keyFiles(t, "example.com.", dns.ECDSAP256SHA256), keyFiles(t, "example.com.", dns.ECDSAP256SHA256)
	third, fourth := keyFiles(t, "example.com.", dns.ED25519), keyFiles(t, "example.com.", dns.ED25519)
	later := slices.Clone(old)
	later[1].Content = append(slices.Clone(old[1].Content), "Inactive: 20270301120000\n"...)
	for name, c := range map[string]struct {
		there  []File
		action Action
		reason string
	}{
		"no key":                  {nil, Add, ""},
		"the same":                {old, Keep, ""},
		"half of it":              {old[1:], Add, ""},
		"the other half":          {old[:1], Add, ""},
		"made when all were lost": {append(newer, record(t, "example.com.", false, newer...)), Add, ""},
		"rolled since": {append(newer, record(t, "example.com.", true, old...)), Refuse,
			"2026-03-02T00:00:00Z"},
		"with other times":             {later, Refuse, "differs"},
		"cut off":                      {[]File{{old[1].Name, old[1].Content[:20]}}, Refuse, "differs"},
		"as many as can be published":  {slices.Concat(newer, third, fourth), Refuse, "3 keys"},
		"of a zone with a longer name": {keyFiles(t, "www.example.com.", dns.ED25519), Add, ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := folder(t, c.there...)
			before := seen(t, dir)
			steps := planned(t, dir, opened(t, append(old, record(t, "example.com.", false, old...))...))
			if len(steps) != 1 || steps[0].Action != c.action || !strings.Contains(steps[0].Reason, c.reason) {
				t.Fatalf("planned %+v", steps)
			}
			if err := Apply(dir, steps); err != nil {
				t.Fatal(err)
			}
			after := seen(t, dir)
			for path, was := range before {
				if after[path] != was {
					t.Errorf("%s was changed", path)
				}
			}
			if c.action == Add && after[old[1].Name] == "" || c.action != Add && len(after) != len(before) {
				t.Errorf("the folder has %v", slices.Collect(maps.Keys(after)))
			}
		})
	}
}

func TestRestore_ZonesAloneAndTooManyTogether(t *testing.T) {
	var files []File
	for range 4 {
		files = append(files, keyFiles(t, "example.com.", dns.ED25519)...)
	}
	files = append(files, keyFiles(t, "example.org.", dns.ED25519)...)
	b := opened(t, files...)
	if got := actions(planned(t, t.TempDir(), b)); !slices.Equal(got, []Action{Add, Add, Add, Refuse, Add}) {
		t.Errorf("all: %v", got)
	}
	if got := planned(t, t.TempDir(), b, "example.org."); len(got) != 1 || got[0].Zone != "example.org." {
		t.Errorf("one zone: %+v", got)
	}
	if _, err := Plan(t.TempDir(), b, []string{"example.net."}); err == nil {
		t.Error("a zone without keys is no error")
	}
	broken := folder(t, File{"example.org.record", []byte("{")})
	if _, err := Plan(broken, b, nil); err == nil || !strings.Contains(err.Error(), "example.org.record") {
		t.Errorf("a record that cannot be read: %v", err)
	}
}

// If one file cannot be written, the restore leaves no file.
func TestRestore_AllOrNothing(t *testing.T) {
	files := append(keyFiles(t, "example.com.", dns.ED25519), keyFiles(t, "example.org.", dns.ED25519)...)
	dir := t.TempDir()
	steps := planned(t, dir, opened(t, files...))
	meanwhile := File{files[2].Name, []byte("made by the node")}
	if err := os.WriteFile(filepath.Join(dir, meanwhile.Name), meanwhile.Content, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := Apply(dir, steps); err == nil {
		t.Fatal("it overwrites what came meanwhile")
	}
	if got := seen(t, dir); len(got) != 1 || !strings.HasSuffix(got[meanwhile.Name], "made by the node") {
		t.Errorf("the folder has %v", got)
	}
	if err := Apply(filepath.Join(dir, "no", "dnssec"), steps); err == nil {
		t.Error("there is no data_dir, and it goes on")
	}
}

// A backup contains usable keys, or an error occurs.
func TestRead_UnusableKeys(t *testing.T) {
	good, other := keyFiles(t, "example.com.", dns.ED25519), keyFiles(t, "example.com.", dns.ED25519)
	for name, c := range map[string]struct {
		files []File
		names string
	}{
		"nothing":                {nil, "no signing keys"},
		"no private half":        {good[:1], ".private"},
		"no public half":         {good[1:], ".key"},
		"halves of two keys":     {[]File{good[0], {good[1].Name, other[1].Content}}, "private half"},
		"a private half cut off": {[]File{good[0], {good[1].Name, good[1].Content[:40]}}, "private half"},
		"a name of another key": {[]File{{"Kexample.com.+015+00001.key", good[0].Content},
			{"Kexample.com.+015+00001.private", good[1].Content}}, "00001"},
		"a public half of A":      {[]File{{good[0].Name, []byte("example.com. 1 IN A 192.0.2.1\n")}, good[1]}, "DNSKEY"},
		"a file that is too long": {[]File{good[0], {good[1].Name, make([]byte, maxFile+1)}}, "at most"},
	} {
		if _, _, err := Read(folder(t, c.files...)); err == nil || !strings.Contains(err.Error(), c.names) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, _, err := Read(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("no folder is no error")
	}
}

// A private key of P-256 determines its public half, regardless of the record.
func TestRead_UnusableKeysOfP256(t *testing.T) {
	good, other := keyFiles(t, "example.com.", dns.ECDSAP256SHA256), keyFiles(t, "example.com.", dns.ECDSAP256SHA256)
	const field = "PrivateKey: "
	before, _, there := strings.Cut(string(good[1].Content), field)
	if !there {
		t.Fatalf("no field of the private key in %s", good[1].Content)
	}
	const after = "\nCreated: 20260301120000\n"
	for name, private := range map[string]string{
		"of another key":          string(other[1].Content),
		"without the field":       before + after,
		"cut off before it":       before,
		"cut off within it":       string(good[1].Content[:len(before)+len(field)+8]),
		"with nothing in it":      before + field + after,
		"with zero":               before + field + strings.Repeat("A", 43) + "=" + after,
		"above the group's order": before + field + strings.Repeat("/", 42) + "8=" + after,
		"with 64 octets":          before + field + strings.Repeat("/", 86) + "==" + after,
	} {
		_, _, err := Read(folder(t, good[0], File{good[1].Name, []byte(private)}))
		if err == nil || !strings.Contains(err.Error(), "private half") {
			t.Errorf("a private half %s: %v", name, err)
		}
	}
}

func TestOpen_SaysWhatIsWrong(t *testing.T) {
	good := sealed(t, keyFiles(t, "example.com.", dns.ED25519)...)
	if _, err := Open(bytes.NewReader(good), "another passphrase"); err == nil ||
		!strings.Contains(err.Error(), "the passphrase is wrong") {
		t.Errorf("another passphrase: %v", err)
	}
	for _, length := range []int{0, 1, 30, 100, 150, 200, len(good) / 2, len(good) - 1} {
		if _, err := Open(bytes.NewReader(good[:length]), secret); err == nil {
			t.Errorf("cut off after %d of %d octets: no error", length, len(good))
		}
	}
	step := 1
	if testing.Short() { // with the race detector; without it each octet
		step = 13
	}
	for at := 0; at < len(good); at += step {
		bad := slices.Clone(good)
		bad[at] ^= 0x40
		if _, err := Open(bytes.NewReader(bad), secret); err == nil {
			t.Errorf("octet %d changed: no error", at)
		}
	}
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	var foreign bytes.Buffer
	if err := seal(&foreign, identity.Recipient(), &Backup{}); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		content []byte
		says    string
	}{
		"a text":             {[]byte("hello\n"), "not sealed by age"},
		"for a key of age":   {foreign.Bytes(), "not by a passphrase"},
		"too long":           {append(slices.Clone(good), make([]byte, MaxBackup)...), "MiB"},
		"a text, sealed":     {wrapped(t, []byte("hello")), "no backup"},
		"nothing, sealed":    {wrapped(t, nil), "no backup"},
		"an archive, sealed": {wrapped(t, tarred(t, tar.Header{Name: "x"})), "no backup"},
		"a later format":     {wrapped(t, tarred(t, tar.Header{Name: aboutName}, `{"format":2}`)), "format is 2"},
		"a path":             {withEntry(t, tar.Header{Name: "../Kx.key"}), "no key file"},
		"an absolute path":   {withEntry(t, tar.Header{Name: "/etc/Kx.key"}), "no key file"},
		"a hidden file":      {withEntry(t, tar.Header{Name: ".record"}), "no key file"},
		"a link": {withEntry(t, tar.Header{Name: "Kx.key", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"}),
			"no key file"},
		"a key that is half":  {withEntry(t, tar.Header{Name: "Kx.key"}), "without"},
		"work without an end": {bytes.Replace(good, []byte(" 4\n"), []byte(" 30\n"), 1), "work factor"},
	} {
		if b, err := Open(bytes.NewReader(c.content), secret); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %+v, %v", name, b, err)
		}
	}
}

// wrapped encrypts any content.
func wrapped(t *testing.T, content []byte) []byte {
	t.Helper()
	to, err := age.NewScryptRecipient(secret)
	if err != nil {
		t.Fatal(err)
	}
	to.SetWorkFactor(4)
	var out bytes.Buffer
	w, err := age.Encrypt(&out, to)
	if err == nil {
		_, err = w.Write(content)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func tarred(t *testing.T, header tar.Header, text ...string) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	content := strings.Join(text, "")
	header.Mode, header.Size = 0o600, int64(len(content))
	if err := w.WriteHeader(&header); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte(content)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// withEntry returns one of our backups with an additional entry.
func withEntry(t *testing.T, header tar.Header) []byte {
	t.Helper()
	const end = 1024 // two blocks of zeros end an archive
	first := tarred(t, tar.Header{Name: aboutName}, `{"format":1}`)
	return wrapped(t, append(first[:len(first)-end], tarred(t, header)...))
}

func TestWrite_NewFileOfItsOwner(t *testing.T) {
	if testing.Short() {
		t.Skip("scrypt takes half a minute with the race detector: make test-all runs it without")
	}
	path := filepath.Join(t.TempDir(), "keys.age")
	b := &Backup{MadeAt: made, Files: keyFiles(t, "example.com.", dns.ED25519)}
	if err := Write(path, secret, b); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if err := Write(path, secret, b); err == nil {
		t.Error("it overwrites a file")
	}
	for name, wrong := range map[string]string{"no file": path + "x", "a folder": t.TempDir(), "100 MiB": huge(t)} {
		if err := Check(wrong); err == nil {
			t.Errorf("%s fits", name)
		}
	}
}

func huge(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "huge")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 100<<20); err != nil {
		t.Fatal(err)
	}
	return path
}
