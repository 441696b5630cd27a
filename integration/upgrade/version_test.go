package upgrade_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gslb.internal/integration/harness/testbed"
)

func TestVersion_IsTheNewerOfTagAndFile(t *testing.T) {
	t.Parallel()
	script := testbed.Absolute(t, "../../packaging/version.sh")
	for _, c := range []struct {
		name, file, tags, want string // tags are made one commit apart; "+" is a commit without a tag
	}{
		{"no git", "0.9.0", "none", `0\.9\.0`},
		{"no tag", "0.9.0", "", `0\.9\.0`},
		{"another module's tag", "0.9.0", "agent/v2.0.0", `0\.9\.0`},
		{"a newer tag", "0.9.0", "overwatch/v0.10.0", `0\.10\.0`},
		{"an older tag", "0.10.0", "overwatch/v0.9.0", `0\.10\.0`},
		{"the same tag", "0.9.0", "overwatch/v0.9.0", `0\.9\.0`},
		{"commits since the tag", "0.9.0", "overwatch/v0.9.0 + +", `0\.9\.0\+2\.g[0-9a-f]+`},
		{"a candidate is older than its release", "1.0.0", "overwatch/v1.0.0-rc1", `1\.0\.0`},
		{"a candidate of a later release", "0.9.0", "overwatch/v1.0.0-rc1 +", `1\.0\.0-rc1\+1\.g[0-9a-f]+`},
		{"the last of several", "0.9.0", "overwatch/v1.0.0 overwatch/v1.1.0", `1\.1\.0`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.Mkdir(filepath.Join(dir, "overwatch"), 0o755); err != nil {
				t.Fatal(err)
			}
			testbed.Write(t, filepath.Join(dir, "overwatch/VERSION"), 0o644, c.file+"\n")
			if c.tags != "none" {
				testbed.RunIn(t, dir, "git", "init", "-q")
				for _, tag := range strings.Fields("+ " + c.tags) {
					testbed.RunIn(t, dir, "git", "-c", "user.name=test", "-c", "user.email=test@localhost",
						"commit", "-q", "--allow-empty", "-m", "change")
					if tag != "+" {
						testbed.RunIn(t, dir, "git", "tag", tag)
					}
				}
			}
			cmd := exec.CommandContext(t.Context(), script, "overwatch")
			cmd.Dir, cmd.Env = dir, append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
			output, err := cmd.CombinedOutput()
			got := strings.TrimSpace(string(output))
			if err != nil || !regexp.MustCompile("^"+c.want+"$").MatchString(got) {
				t.Errorf("version %q (%v), want %s", got, err, c.want)
			}
		})
	}
}

// What is built from an archive of the sources, without git, carries the version that stands in the module's file.
func TestVersion_OfAnArchiveIsTheFiles(t *testing.T) {
	t.Parallel()
	sources := testbed.SourcesElsewhere(t)
	testbed.Write(t, filepath.Join(sources, "gslbctl/VERSION"), 0o644, "7.8.9\n")
	run := func(args ...string) string {
		cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
		cmd.Dir, cmd.Env = sources, append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(sources))
		output, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, output)
		}
		return string(output)
	}
	if output := run("make", "-n", "dist"); !strings.Contains(output, "-version gslbctl=7.8.9 ") {
		t.Errorf("make dist: %s", output)
	}
	run("make", "bin/gslbctl")
	if output := run("bin/gslbctl", "--version"); !strings.HasPrefix(output, "gslbctl 7.8.9") {
		t.Errorf("the program says %s", output)
	}
}

// Each module that ships says in its CHANGELOG what its version has, for users, newest first.
func TestVersion_EachHasItsPlaceInTheChangelog(t *testing.T) {
	version := regexp.MustCompile(`^\d+\.\d+\.\d+\n$`)
	heading := regexp.MustCompile(`(?m)^## \[(.+?)\](?: - \d{4}-\d{2}-\d{2})?$`)
	for _, module := range testbed.Shipped {
		file, err := os.ReadFile(filepath.Join("../..", module, "VERSION"))
		if err != nil || !version.Match(file) {
			t.Errorf("%s/VERSION: %q (%v), want a line such as 1.2.3", module, file, err)
		}
		text, err := os.ReadFile(filepath.Join("../..", module, "CHANGELOG.md"))
		if err != nil {
			t.Error(err)
			continue
		}
		sections := heading.FindAllStringSubmatch(string(text), -1)
		if len(sections) < 2 || sections[0][1] != "Unreleased" || sections[1][1] != strings.TrimSpace(string(file)) {
			t.Errorf("%s/CHANGELOG.md has the sections %v, want Unreleased, then %s", module, sections, file)
		}
	}
}
