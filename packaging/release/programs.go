package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// target is an operating system and an architecture, as Go names them.
type target struct{ os, arch string }

func (t target) String() string { return t.os + "/" + t.arch }

var (
	servers    = []target{{"linux", "amd64"}, {"linux", "arm64"}}
	allTargets = append(servers, target{"darwin", "amd64"}, target{"darwin", "arm64"}, target{"windows", "amd64"},
		target{"windows", "arm64"})
)

// program is one executable and the files that are packed with it.
type program struct {
	name, module, main string
	summary            string
	targets            []target
	service            *service // nil for a tool
	// files are the files of a package beside the executable: path in the repository to path where it is installed.
	files map[string]string
	// examples are pairs of words, old and new: the old ones are replaced in the examples for this program.
	examples []string
}

// service describes a program as a systemd unit runs it.
type service struct {
	unit, config string   // names of the unit and of the configuration file in /etc/gslb
	units        []string // all that the package brings
	state        string   // the directory of its state, which a purge removes
	user         string   // the user, and the group, that it runs as
	former       string   // the user that earlier packages ran it as, if another
}

var programs = []program{
	{
		name: "gslb-overwatch", module: "overwatch", main: "./overwatch/cmd/gslb-overwatch", targets: servers,
		summary: "Authoritative DNS that answers with backends that are alive, near and not overloaded",
		service: &service{
			unit: "gslb-overwatch.service", config: "overwatch.yaml",
			units: []string{"gslb-overwatch.service", "gslb-overwatch.socket"}, state: "/var/lib/gslb", user: "gslb",
		},
		files: map[string]string{
			"packaging/systemd/gslb-overwatch.service": "/usr/lib/systemd/system/gslb-overwatch.service",
			"packaging/systemd/gslb-overwatch.socket":  "/usr/lib/systemd/system/gslb-overwatch.socket",
			"packaging/sysctl/60-gslb-overwatch.conf":  "/usr/lib/sysctl.d/60-gslb-overwatch.conf",
			"packaging/examples/overwatch.yaml":        "/usr/share/doc/gslb-overwatch/examples/overwatch.yaml",
			"packaging/man/gslb-overwatch.8":           "/usr/share/man/man8/gslb-overwatch.8",
			"overwatch/README.md":                      "/usr/share/doc/gslb-overwatch/README.md",
			"overwatch/CHANGELOG.md":                   "/usr/share/doc/gslb-overwatch/CHANGELOG.md",
			"overwatch/docs/":                          "/usr/share/doc/gslb-overwatch/docs/",
			"packaging/observability/":                 "/usr/share/gslb-overwatch/observability/",
		},
	},
	{
		name: "gslb-agent", module: "agent", main: "./agent/cmd/gslb-agent", targets: allTargets,
		summary: "Checks the backends beside it and reports them to gslb overwatch nodes",
		service: &service{
			unit: "gslb-agent.service", config: "agent.yaml", units: []string{"gslb-agent.service"},
			state: "/var/lib/gslb-agent", user: "gslb-agent", former: "gslb",
		},
		files: map[string]string{
			"packaging/systemd/gslb-agent.service": "/usr/lib/systemd/system/gslb-agent.service",
			"packaging/examples/agent.yaml":        "/usr/share/doc/gslb-agent/examples/agent.yaml",
			"packaging/man/gslb-agent.8":           "/usr/share/man/man8/gslb-agent.8",
			"agent/README.md":                      "/usr/share/doc/gslb-agent/README.md",
			"agent/CHANGELOG.md":                   "/usr/share/doc/gslb-agent/CHANGELOG.md",
			"agent/docs/":                          "/usr/share/doc/gslb-agent/docs/",
		},
	},
	{
		name: "gslbctl", module: "gslbctl", main: "./gslbctl/cmd/gslbctl", targets: allTargets,
		summary: "Operates gslb, a global server load balancer",
		files: map[string]string{
			"gslbctl/README.md":    "/usr/share/doc/gslbctl/README.md",
			"gslbctl/CHANGELOG.md": "/usr/share/doc/gslbctl/CHANGELOG.md",
		},
	},
	{
		name: "gslb", module: "packaging/launcher", main: "./packaging/launcher", targets: servers,
		summary: "Overwatch node and agent of gslb in one executable",
		service: &service{
			unit: "gslb.service", config: "gslb.yaml", units: []string{"gslb.service"}, state: "/var/lib/gslb", user: "gslb",
		},
		files: map[string]string{
			"packaging/systemd/gslb.service":          "/usr/lib/systemd/system/gslb.service",
			"packaging/sysctl/60-gslb-overwatch.conf": "/usr/lib/sysctl.d/60-gslb.conf",
			"packaging/examples/overwatch.yaml":       "/usr/share/doc/gslb/examples/overwatch.yaml",
			"packaging/examples/agent.yaml":           "/usr/share/doc/gslb/examples/agent.yaml",
			"packaging/man/gslb.8":                    "/usr/share/man/man8/gslb.8",
			"README.md":                               "/usr/share/doc/gslb/README.md",
			"packaging/launcher/CHANGELOG.md":         "/usr/share/doc/gslb/CHANGELOG.md",
		},
		examples: []string{
			"/usr/share/doc/gslb-overwatch/", "/usr/share/doc/gslb/", "/usr/share/doc/gslb-agent/", "/usr/share/doc/gslb/",
			"-o gslb-agent ", "-o gslb ",
			"/etc/gslb/overwatch.yaml", "/etc/gslb/gslb.yaml", "/etc/gslb/agent.yaml", "/etc/gslb/gslb.yaml",
			"systemctl start gslb-overwatch", "systemctl start gslb", "systemctl start gslb-agent", "systemctl start gslb",
			"/var/lib/gslb-agent", "/var/lib/gslb",
		},
	},
}

const infoPackage = "gslb.internal/shared/buildinfo"

// build compiles a program and returns the path of the executable. It needs no C compiler and records no path of this
// machine.
func (r *release) build(ctx context.Context, p program, t target, version string) (string, error) {
	path := filepath.Join(r.work, t.os+"-"+t.arch, p.name+extension(t))
	flags := fmt.Sprintf("-s -w -X %[1]s.version=%[2]s -X %[1]s.commit=%[3]s -X %[1]s.date=%[4]s",
		infoPackage, version, r.commit, r.date.UTC().Format(time.RFC3339))
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", flags, "-o", path, p.main)
	cmd.Env = append(os.Environ(), "GOOS="+t.os, "GOARCH="+t.arch, "CGO_ENABLED=0",
		"GOFLAGS=", "GOAMD64=v1", "GOARM64=v8.0") // not this machine's, so that the bytes are the same elsewhere
	if output, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, output)
	}
	return path, nil
}

func extension(t target) string {
	if t.os == "windows" {
		return ".exe"
	}
	return ""
}
