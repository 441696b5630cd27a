package settings // inside: it looks at key and name

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"go.yaml.in/yaml/v3"
)

func TestSecret_ShowsItselfOnlyWhenRevealed(t *testing.T) {
	s := server{Key: "abcdef", OldKeys: []Secret{"abcdef"}, Tokens: map[string]Secret{"x": "abcdef"}}
	encoded, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	document, err := yaml.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	for _, shown := range []string{
		fmt.Sprint(s), fmt.Sprintf("%v %+v %#v %s %q", s, s, s, s.Key, s.Key), string(encoded), string(document),
		fmt.Sprintf("%x %d", s.Key.String(), len(s.Key)),
	} {
		if strings.Contains(shown, "abcdef") || strings.Contains(shown, "616263") {
			t.Errorf("the secret is in %s", shown)
		}
	}
	if s.Key.Reveal() != "abcdef" {
		t.Error("Reveal does not return the secret")
	}
	if Secret("").String() != "" {
		t.Error("an empty secret looks as if it were set")
	}
}

// The test covers all sources of a secret, and the value from each source.
func TestSecrets_ComeFromFilesAndEnvironment(t *testing.T) {
	t.Run("files", func(t *testing.T) {
		got, problems := load(t, map[string]string{
			"main.yaml": "mode: test\nincludes: [sub/more.yaml]\nserver: {key_file: secrets/key, tokens_file: " +
				"secrets/tokens.yaml}\n",
			"sub/more.yaml":       "server: {old_keys_file: old}\n",
			"secrets/key":         "  s3cret==\r\n\n",
			"secrets/tokens.yaml": "# tokens\nApp.example.com: one\n\"b.c\": 'two'\n",
			"sub/old":             "[x, y]",
		})
		checkSecrets(t, got, problems, "  s3cret==")
	})
	t.Run("environment", func(t *testing.T) {
		t.Setenv("GSLB_SERVER_KEY", "s3cret==")
		t.Setenv("GSLB_SERVER_TOKENS", `{"App.example.com": "one", "b.c": "two"}`)
		t.Setenv("GSLB_SERVER_OLD_KEYS", `["x", "y"]`)
		got, problems := load(t, map[string]string{"main.yaml": "mode: test\n"})
		checkSecrets(t, got, problems, "s3cret==")
	})
	t.Run("only secrets come from the environment", func(t *testing.T) {
		t.Setenv("GSLB_SERVER_NAME", "x")
		t.Setenv("GSLB_SERVER_KEY", "") // treated as unset
		got, problems := load(t, map[string]string{"main.yaml": "mode: test\nserver: {key: k}\n"})
		if problems != nil || got.Server.Name != "" || got.Server.Key != "k" {
			t.Errorf("got %+v, %q", got, problems)
		}
	})
}

func checkSecrets(t *testing.T, got sample, problems []string, key Secret) {
	t.Helper()
	tokens := map[string]Secret{"App.example.com": "one", "b.c": "two"}
	if problems != nil || got.Server.Key != key || !maps.Equal(got.Server.Tokens, tokens) ||
		!slices.Equal(got.Server.OldKeys, []Secret{"x", "y"}) {
		t.Errorf("got key %q, tokens %d, old keys %d, problems %q", got.Server.Key.Reveal(), len(got.Server.Tokens),
			len(got.Server.OldKeys), problems)
	}
}

func TestSecrets_TellWhatIsWrong(t *testing.T) {
	tests := []struct {
		name        string
		files       map[string]string
		environment map[string]string
		want        []string
	}{
		{"two ways", map[string]string{"main.yaml": "mode: test\nserver:\n  key: abcdef\n  key_file: key\n",
			"key": "abcdef"}, nil,
			[]string{
				`main.yaml:3: server.key: is given in 2 ways (at main.yaml:3, by server.key_file at main.yaml:4): keep one`}},
		{"three ways", map[string]string{"main.yaml": "mode: test\nserver:\n  tokens: {a: abcdef}\n  tokens_file: key\n",
			"key": "a: abcdef"},
			map[string]string{"GSLB_SERVER_TOKENS": "a: abcdef"},
			[]string{
				`main.yaml:3: server.tokens: is given in 3 ways (at main.yaml:3, by server.tokens_file at main.yaml:4, by the ` +
					`environment variable GSLB_SERVER_TOKENS): keep one`}},
		{"two files", map[string]string{"main.yaml": "mode: test\nincludes: [b.yaml]\nserver: {key_file: key}\n",
			"b.yaml": "server: {key_file: key}\n", "key": "abcdef"}, nil,
			[]string{`b.yaml:1: server.key_file: is already set at main.yaml:3: keep one`}},
		{"missing file", map[string]string{"main.yaml": "mode: test\nserver: {key_file: none}\n"}, nil,
			[]string{`main.yaml:2: server.key_file: "none": the file none cannot be read: no such file or directory`}},
		{"empty file", map[string]string{"main.yaml": "mode: test\nserver: {key_file: key}\n", "key": "\n"}, nil,
			[]string{`main.yaml:2: server.key_file: "key": the file key is empty`}},
		{"no regular file", map[string]string{"main.yaml": "mode: test\nserver: {key_file: /dev/stdin, old_keys_file: " +
			"/dev/zero, tokens_file: .}\n"}, nil, nil},
		{"not a path", map[string]string{"main.yaml": "mode: test\nserver: {key_file: [x]}\n"}, nil,
			[]string{`main.yaml:2: server.key_file: expected the path of a file, found a list`}},
		{"nothing", map[string]string{"main.yaml": "mode: test\nserver: {key_file: }\n"}, nil, nil},
		{"no YAML in a file", map[string]string{"main.yaml": "mode: test\nserver: {tokens_file: key}\n",
			"key": "a: *abcdef\n"}, nil,
			[]string{`key:1: server.tokens: not valid YAML; expected a map such as {"app.example.com": "token"}`}},
		{"no map in the environment", map[string]string{"main.yaml": "mode: test\n"},
			map[string]string{"GSLB_SERVER_TOKENS": "abcdef"},
			[]string{
				`environment variable GSLB_SERVER_TOKENS:1: server.tokens: ` +
					`expected a map of names to values, found a single value`}},
		{"a map in place of a list", map[string]string{"main.yaml": "mode: test\n"},
			map[string]string{"GSLB_SERVER_OLD_KEYS": "{a: abcdef}"},
			[]string{`environment variable GSLB_SERVER_OLD_KEYS:1: server.old_keys: expected a list, found a map of keys`}},
		{"a list in place of a token", map[string]string{"main.yaml": "mode: test\nserver: {tokens: {a: [abcdef]}}\n"}, nil,
			[]string{`main.yaml:2: server.tokens["a"]: expected a single value, found a list`}},
		{"variables", map[string]string{"main.yaml": "mode: test\nserver:\n  key: ${abcdef}\n  old_keys: [x, " +
			"'${abcdef}', '${a}b']\n  tokens:\n    a: \"${abcdef}\"\n  name: ${x}\n"}, nil, []string{
			`main.yaml:3: server.key: stands there as a variable, which nothing replaces: write the secret itself, or give it ` +
				`by server.key_file or the environment variable GSLB_SERVER_KEY`,
			`main.yaml:4: server.old_keys[1]: stands there as a variable, which nothing replaces: write the secret itself, or ` +
				`give it by server.old_keys_file or the environment variable GSLB_SERVER_OLD_KEYS`,
			`main.yaml:6: server.tokens["a"]: stands there as a variable, which nothing replaces: write the secret itself, or ` +
				`give it by server.tokens_file or the environment variable GSLB_SERVER_TOKENS`}},
		{"_file of what is no secret", map[string]string{"main.yaml": "mode: test\nserver: {name_file: x}\n"}, nil,
			[]string{
				`main.yaml:2: server.name_file: unknown key; here belong name, enabled, count, share, interval, key, old_keys, ` +
					`tokens, policies`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for name, value := range tt.environment {
				t.Setenv(name, value)
			}
			_, got := load(t, tt.files)
			if strings.Contains(strings.Join(got, "\n"), "abcdef") {
				t.Errorf("a secret is in the message: %q", got)
			}
			if tt.want != nil && !slices.Equal(got, tt.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
			}
		})
	}
}

func TestSecrets_OnlyRegularFilesAreRead(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		pipe:        "is a pipe: give a regular file",
		"/dev/zero": "is a device: give a regular file",
		dir:         "is a directory: give a regular file",
	} {
		_, got := load(t, map[string]string{"main.yaml": "mode: test\nserver: {key_file: " + path + "}\n"})
		if len(got) != 1 || !strings.HasSuffix(got[0], want) {
			t.Errorf("%s: got %q, want %q", path, got, want)
		}
	}
}

func TestSecrets_FilesOpenToOthersAreRefused(t *testing.T) {
	tests := []struct {
		name, text, key string
		mode, keyMode   uint32
		want            []string
	}{
		{"closed", "server: {key: k}", "", 0o600, 0, nil},
		{"read-only", "server: {key: k}", "", 0o400, 0, nil},
		{"no secret in it", "server: {name: n, key_file: key}", "k", 0o644, 0o600, nil},
		{"readable by the group", "server: {key: k}", "", 0o640, 0,
			[]string{"main.yaml:2: server.key: is a secret, but the file is open to group or others (mode 0640): chmod 600 " +
				"DIR/main.yaml"}},
		{"writable by others", "server: {tokens: {a: k}}", "", 0o602, 0,
			[]string{"main.yaml:2: server.tokens: is a secret, but the file is open to group or others (mode 0602): chmod " +
				"600 DIR/main.yaml"}},
		{"a key file readable by others", "server: {key_file: key}", "k", 0o644, 0o604,
			[]string{
				`main.yaml:2: server.key_file: "key": the file key holds a secret, but it is open to group or others (mode ` +
					`0604): chmod 600 DIR/key`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "main.yaml")
			write(t, path, "mode: test\n"+tt.text+"\n", 0)
			chmod(t, path, tt.mode)
			if tt.key != "" {
				write(t, filepath.Join(dir, "key"), tt.key, 0)
				chmod(t, filepath.Join(dir, "key"), tt.keyMode)
			}
			var s sample
			got := lines(dir, Load(path, &s, Options{Mode: "test"}))
			for i := range tt.want {
				tt.want[i] = strings.ReplaceAll(tt.want[i], "DIR/", "")
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func chmod(t *testing.T, path string, mode uint32) {
	t.Helper()
	if err := syscall.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

// A secret in an element of a list has no environment variable.
func TestSecrets_AVariableInAListOfStructs(t *testing.T) {
	var got struct {
		Mode    string `key:"mode"`
		Targets []struct {
			URL Secret `key:"url"`
		} `key:"targets"`
	}
	err := LoadText("mode: test\ntargets: [{url: '${abcdef}'}]\n", &got, Options{Mode: "test"})
	const want = "targets[0].url: stands there as a variable, which nothing replaces: write the secret itself, or give " +
		"it by targets[0].url_file"
	if err == nil || !strings.HasSuffix(err.Error(), want) || strings.Contains(err.Error(), "abcdef") {
		t.Errorf("got %v, want %s", err, want)
	}
}

// A map of lists of secrets has the same sources as every secret.
func TestSecrets_InListsOfAMap(t *testing.T) {
	type lists struct {
		Mode   string              `key:"mode"`
		Former map[string][]Secret `key:"former"`
	}
	for name, text := range map[string]string{
		"file": "mode: test\nformer: {a.example: [one, two], b.example: [three]}\n", "_file": "mode: test\nformer_file: " +
			"former.yaml\n", "environment": "mode: test\n",
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, filepath.Join(dir, "main.yaml"), text, 0o600)
			write(t, filepath.Join(dir, "former.yaml"), "a.example: [one, two]\nb.example: [three]\n", 0o600)
			if name == "environment" {
				t.Setenv("GSLB_FORMER", `{"a.example": ["one", "two"], "b.example": ["three"]}`)
			}
			var got lists
			if err := Load(filepath.Join(dir, "main.yaml"), &got, Options{Mode: "test"}); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got.Former["a.example"], []Secret{"one", "two"}) || !slices.Equal(got.Former["b.example"],
				[]Secret{"three"}) {
				t.Errorf("%d lists", len(got.Former))
			}
		})
	}
}
