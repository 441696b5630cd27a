package contexts // inside: it uses maxFile

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
)

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestLoad_SaysWhatIsWrong(t *testing.T) {
	for text, words := range map[string]string{
		"":             "",
		"contexts: {}": "",
		"contexts: [":  "config.yaml:1: not valid YAML",
		"clusters: {}": `config.yaml:1: unknown key "clusters"`,
		"current: a\ncontexts:\n  a: {nodes: [], tokn: do not repeat me}": `config.yaml:3: unknown key "tokn"`,
		"current: a\ncontexts:\n  a: {nodes: do not repeat me}":           "config.yaml:3: a text is not possible here",
		"current: a":          `no context has that name`,
		"contexts: {a: {}}":   "it names no node",
		"contexts: {a: null}": "it names no node",
		"contexts: {a: {nodes: [{api: 'ftp://x'}]}}":                                                 `the scheme is "ftp"`,
		"contexts: {a: {nodes: [{api: x, dns: y}]}}":                                                 "give host:port",
		"contexts: {a: {nodes: [{api: x, dns: '::1'}]}}":                                             "",
		"contexts: {a: {nodes: [{api: x, dns: 'y:99999'}]}}":                                         "the port is",
		"contexts: {a: {nodes: [{api: x}], client_cert: y}}":                                         "come together",
		"contexts: {a: {nodes: [{api: x}], token: y}}":                                               "unencrypted",
		"contexts: {a: {nodes: [{api: 'https://x'}], token: y, token_file: z}}":                      "only one of them",
		"contexts: {a: {nodes: [{api: '[::1]:8080'}, {api: 'https://x'}, {api: '::1'}], token: y}}":  "",
		"contexts: {a: {nodes: [{api: localhost}], token: y}}":                                       "",
		"contexts: {a: {nodes: [{api: 'http://localhost.example.com'}], token: 'do not repeat me'}}": "unencrypted",
		strings.Repeat("#", maxFile+1):                                                               "larger than",
	} {
		_, err := Load(write(t, text))
		if (err == nil) != (words == "") || err != nil && !strings.Contains(err.Error(), words) {
			t.Errorf("%.100s: %v, want %q", text, err, words)
		}
		if err != nil && strings.Contains(err.Error(), "do not repeat me") {
			t.Errorf("the token is in %v", err)
		}
	}
}

func TestChange_FailureLeavesTheFileAsItWas(t *testing.T) {
	const text = "contexts:\n  a:\n    nodes:\n      - api: x\n"
	path := write(t, text)
	if err := Change(path, func(*File) error { return errors.New("no") }); err == nil {
		t.Error("the error of edit is lost")
	}
	if got, _ := os.ReadFile(path); string(got) != text {
		t.Errorf("the file is %q", got)
	}
	if err := os.WriteFile(path+".lock", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Change(path, func(*File) error { return nil }); err == nil || !strings.Contains(err.Error(), path+".lock") {
		t.Errorf("while another one changes it: %v", err)
	}
}

func TestChange_NoneOfManyAtOnceIsLost(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deep", "config.yaml")
	var all sync.WaitGroup
	for _, name := range []string{"a", "b", "c", "d"} {
		all.Go(func() {
			for {
				err := Change(path, func(f *File) error {
					f.Contexts[name] = Context{Nodes: []Node{{API: name}}}
					return nil
				})
				if err == nil || !strings.Contains(err.Error(), "another gslbctl") {
					if err != nil {
						t.Error(err)
					}
					return
				}
			}
		})
	}
	all.Wait()
	if f, err := Load(path); err != nil || len(f.Contexts) != 4 {
		t.Errorf("%+v, %v", f, err)
	}
}

func TestChange_GoesThroughALink(t *testing.T) {
	path := write(t, "")
	link := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.Symlink(path, link); err != nil {
		t.Skip(err)
	}
	if err := Change(link, func(f *File) error {
		f.Contexts["a"] = Context{Nodes: []Node{{API: "x"}}}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if f, err := Load(path); err != nil || len(f.Contexts) != 1 {
		t.Errorf("%+v, %v", f, err)
	}
}

// FuzzLoad: any content of the file is rejected or preserved.
func FuzzLoad(f *testing.F) {
	f.Add("current: a\ncontexts: {a: {nodes: [{api: x, dns: 'y:1'}], ca: b}}")
	f.Add("contexts: {a: &x {nodes: [{api: '[::1]:1'}]}, b: *x}")
	f.Fuzz(func(t *testing.T, text string) {
		path := write(t, text)
		first, err := Load(path)
		if err != nil {
			return
		}
		if err := Change(path, func(*File) error { return nil }); err != nil {
			t.Fatal(err)
		}
		second, err := Load(path)
		if err != nil {
			t.Fatalf("what was written cannot be read: %v", err)
		}
		if !reflect.DeepEqual(first, second) {
			t.Errorf("%+v became %+v", first, second)
		}
	})
}
