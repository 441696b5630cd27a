package upgrade_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
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
		{"a tag of a Go module", "0.9.0", "agent/v2.0.0", `0\.9\.0`},
		{"a newer tag", "0.9.0", "v0.10.0", `0\.10\.0`},
		{"an older tag", "0.10.0", "v0.9.0", `0\.10\.0`},
		{"the same tag", "0.9.0", "v0.9.0", `0\.9\.0`},
		{"commits since the tag", "0.9.0", "v0.9.0 + +", `0\.9\.0\+2\.g[0-9a-f]+`},
		{"a candidate is older than its release", "1.0.0", "v1.0.0-rc.1", `1\.0\.0`},
		{"a candidate of a later release", "0.9.0", "v1.0.0-rc.1 +", `1\.0\.0-rc\.1\+1\.g[0-9a-f]+`},
		{"the last of several", "0.9.0", "v1.0.0 v1.1.0", `1\.1\.0`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			testbed.Write(t, filepath.Join(dir, "VERSION"), 0o644, c.file+"\n")
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
			cmd := exec.CommandContext(t.Context(), script)
			cmd.Dir, cmd.Env = dir, append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
			output, err := cmd.CombinedOutput()
			got := strings.TrimSpace(string(output))
			if err != nil || !regexp.MustCompile("^"+c.want+"$").MatchString(got) {
				t.Errorf("version %q (%v), want %s", got, err, c.want)
			}
		})
	}
}

// A build from a source archive without git has the version from the file VERSION.
func TestVersion_OfAnArchiveIsTheFiles(t *testing.T) {
	t.Parallel()
	sources := testbed.SourcesElsewhere(t)
	testbed.Write(t, filepath.Join(sources, "VERSION"), 0o644, "7.8.9\n")
	run := func(args ...string) string {
		cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
		cmd.Dir, cmd.Env = sources, append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(sources))
		output, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, output)
		}
		return string(output)
	}
	if output := run("make", "-n", "dist"); !strings.Contains(output, "-version 7.8.9 ") {
		t.Errorf("make dist: %s", output)
	}
	run("make", "bin/gslbctl")
	if output := run("bin/gslbctl", "--version"); !strings.HasPrefix(output, "gslbctl 7.8.9") {
		t.Errorf("the program says %s", output)
	}
}

// Each program has a changelog in the format of Keep a Changelog, with a section for the version and for each release.
func TestVersion_EachProgramHasAChangelog(t *testing.T) {
	version := strings.TrimSpace(testbed.Read(t, "../../VERSION"))
	if !regexp.MustCompile(`^\d+\.\d+\.\d+(-rc\.\d+)?$`).MatchString(version) {
		t.Errorf("VERSION is %q, want a version such as 1.2.3 or 1.2.3-rc.1", version)
	}
	heading := regexp.MustCompile(`(?m)^## (.*)$`)
	released := regexp.MustCompile(`^\[(.+)\] - \d{4}-\d{2}-\d{2}$`)
	kinds := []string{"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
	for _, module := range testbed.Shipped {
		text := testbed.Read(t, filepath.Join("../..", module, "CHANGELOG.md"))
		var releases []string
		for i, section := range heading.FindAllStringSubmatch(text, -1) {
			match := released.FindStringSubmatch(section[1])
			switch {
			case i == 0 && section[1] == "[Unreleased]":
			case match == nil:
				t.Errorf("%s/CHANGELOG.md: the heading %q is not of the form [1.2.3] - 2026-01-31", module, section[1])
			default:
				releases = append(releases, match[1])
			}
		}
		if len(releases) < 2 || releases[0] != version || releases[len(releases)-1] != "0.9.0" {
			t.Errorf("%s/CHANGELOG.md has the releases %v, want %s first and 0.9.0 last", module, releases, version)
		}
		for i, section := range heading.Split(text, -1) {
			last := -1
			for _, kind := range regexp.MustCompile(`(?m)^### (.*)$`).FindAllStringSubmatch(section, -1) {
				at := slices.Index(kinds, kind[1])
				if at <= last {
					t.Errorf("%s/CHANGELOG.md: section %d has %q out of the order %v", module, i, kind[1], kinds)
				}
				last = at
			}
		}
	}
}

// dpkg and rpm order the versions: 0.9.0, then the release candidate, then the release.
func TestVersion_PackagesAreInOrder(t *testing.T) {
	t.Parallel()
	dpkg, rpm := testbed.Judge(t, "dpkg"), testbed.Judge(t, "rpm")
	versions := []string{"0.9.0", "1.0.0-rc.1", "1.0.0-rc.1+2.gabcdef0", "1.0.0"}
	var debs, rpms []string
	for _, version := range versions {
		dir := release(t, "../..", t.TempDir(), "gslbctl", version)
		deb, err := exec.CommandContext(t.Context(), dpkg, "-f", one(t, filepath.Join(dir, "*.deb")), "Version").Output()
		if err != nil {
			t.Fatal(err)
		}
		debs = append(debs, strings.TrimSpace(string(deb)))
		query := []string{"-qp", "--nosignature", "--qf", "%{VERSION}-%{RELEASE}", one(t, filepath.Join(dir, "*.rpm"))}
		output, err := exec.CommandContext(t.Context(), rpm, query...).Output()
		if err != nil {
			t.Fatal(err)
		}
		rpms = append(rpms, string(output))
	}
	for i := 1; i < len(versions); i++ {
		if err := exec.CommandContext(t.Context(), dpkg, "--compare-versions", debs[i-1], "lt", debs[i]).Run(); err != nil {
			t.Errorf("dpkg: %s is not older than %s", debs[i-1], debs[i])
		}
		compare := fmt.Sprintf("%%{lua:print(rpm.vercmp(%q, %q))}", rpms[i-1], rpms[i])
		output, err := exec.CommandContext(t.Context(), rpm, "--eval", compare).Output()
		if err != nil || strings.TrimSpace(string(output)) != "-1" {
			t.Errorf("rpm: %s is not older than %s (%s, %v)", rpms[i-1], rpms[i], output, err)
		}
	}
}
