// Package buildinfo owns the description of the running binary: version, commit and date. They come
// from the linker, or else from the Go toolchain's own records. Every program calls it; it never
// reads a file.
package buildinfo

import (
	"cmp"
	"runtime"
	"runtime/debug"
	"strings"
)

// Set by -ldflags "-X gslb.internal/shared/buildinfo.version=...", and never written afterwards.
var version, commit, date string

// Development is the version of a binary that was built without one.
const Development = "0.0.0-dev"

// Info describes a binary. Its fields are those of GET /api/v1/version.
type Info struct {
	Version   string
	GoVersion string
	GitCommit string // "unknown" when built outside a repository
	BuildDate string // RFC 3339; "unknown" when neither the linker nor the repository told
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
