// Package buildinfo describes the running binary: version, commit and date, set by the linker, or else recorded by the
// Go toolchain. Every program calls it. It reads no file.
package buildinfo

import (
	"cmp"
	"runtime"
	"runtime/debug"
	"strings"
)

// Set by -ldflags "-X gslb.internal/shared/buildinfo.version=...", and constant afterwards.
var version, commit, date string

// Development is the version of a binary without a release version.
const Development = "0.0.0-dev"

// Info describes a binary, with the fields of GET /api/v1/version.
type Info struct {
	Version   string
	GoVersion string
	GitCommit string // "unknown" when built outside a repository
	BuildDate string // RFC 3339; "unknown" if neither the linker nor the repository has a date
}

// Get returns the description of the running binary.
func Get() Info {
	var installed, revision, changed string
	if build, ok := debug.ReadBuildInfo(); ok {
		if build.Main.Sum != "" { // `go install <module>@<version>`
			installed = strings.TrimPrefix(build.Main.Version, "v")
		}
		for _, s := range build.Settings {
			switch s.Key {
			case "vcs.revision":
				revision = s.Value
			case "vcs.time":
				changed = s.Value
			}
		}
	}
	return Info{
		Version:   cmp.Or(version, installed, Development),
		GoVersion: runtime.Version(),
		GitCommit: cmp.Or(commit, revision, "unknown"),
		BuildDate: cmp.Or(date, changed, "unknown"),
	}
}
