package settings // inside: include_test.go shares its sample

import (
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// sample has a key of each shape.
type sample struct {
	Mode    string   `key:"mode"`
	Server  server   `key:"server"`
	Sites   []site   `key:"sites"`
	Listen  []string `key:"listen,single"`
	Allowed []string `key:"allowed"`
}

type server struct {
	Name     string            `key:"name"`
	Enabled  bool              `key:"enabled"`
	Count    int               `key:"count"`
	Share    float64           `key:"share"`
	Interval time.Duration     `key:"interval"`
	Key      Secret            `key:"key"`
	OldKeys  []Secret          `key:"old_keys"`
	Tokens   map[string]Secret `key:"tokens"`
	Policies map[string]policy `key:"policies"`
}

type policy struct {
	Networks []netip.Prefix `key:"networks"`
}

type site struct {
	Name    string     `key:"name"`
	Address netip.Addr `key:"address"`
	Port    uint16     `key:"port"`
	Weight  int        `key:"weight" default:"100"`
	Height  *float64   `key:"height"`
	Check   *probe     `key:"check"`
}

type probe struct {
	Type string `key:"type" default:"tcp"`
}

// UnmarshalText parses a site from its name.
func (s *site) UnmarshalText(text []byte) error {
	s.Name = string(text)
	return nil
}

// load writes the named files, readable by their owner only, and loads main.yaml. It removes the name of the directory
// from messages.
func load(t *testing.T, files map[string]string) (sample, []string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		write(t, filepath.Join(dir, name), text, 0o600)
	}
	s := sample{Allowed: []string{"by default"}, Server: server{Count: 7}}
	err := Load(filepath.Join(dir, "main.yaml"), &s, Options{Mode: "test"})
	return s, lines(dir, err)
}

// lines returns an error's lines.
func lines(dir string, err error) []string {
	if err == nil {
		return nil
	}
	return strings.Split(withoutColumns(strings.ReplaceAll(err.Error(), dir+"/", "")), "\n")
}

// withoutColumns removes the columns of YAML, which TestLoad_ProblemsHaveColumns tests.
func withoutColumns(text string) string {
	return regexp.MustCompile(`((?:\.ya?ml|GSLB_[A-Z_]+):\d+):\d+`).ReplaceAllString(text, "$1")
}

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil { // regardless of the umask
		t.Fatal(err)
	}
}
