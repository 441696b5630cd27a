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

// program is one executable with the files in its packages.
type program struct {
	name, module, main string
	summary            string // at most 79 characters
	description        string // lines of at most 79 characters
	targets            []target
	console            bool     // contains the console with its libraries
	service            *service // nil for a tool
	// files are the additional files of a package: path in the repository to installed path.
	files map[string]string
	// examples are pairs of words, old and new, that are replaced in the examples for this program.
	examples []string
}

// service describes a program as a systemd service.
type service struct {
	unit, config string   // names of the unit and of the configuration file in /etc/gslb
	units        []string // all units of the package
	state        string   // directory of its state, which a purge removes
	user         string   // user and group of the service
}

var programs = []program{
	{
		name: "gslb-overwatch", module: "overwatch", main: "./overwatch/cmd/gslb-overwatch", targets: servers,
		console: true,
		summary: "authoritative DNS server that answers with healthy and near backends",
		description: "gslb-overwatch is a node of gslb, a global server load balancer. It answers\n" +
			"DNS queries with the backends that are healthy, near the client and not\n" +
			"overloaded. Agents near the backends report their health; the node checks\n" +
			"them as well.",
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
		summary: "health check agent of the global server load balancer gslb",
		description: "gslb-agent runs near backends, checks them and reports their health to the\n" +
			"overwatch nodes of gslb. The nodes answer DNS queries with healthy backends.",
		service: &service{
			unit: "gslb-agent.service", config: "agent.yaml", units: []string{"gslb-agent.service"},
			state: "/var/lib/gslb-agent", user: "gslb-agent",
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
		summary: "command line tool of the global server load balancer gslb",
		description: "gslbctl shows and changes the state of a gslb cluster over the HTTP API of its\n" +
			"nodes: backends, drains, overrides, events, signing keys and configuration.",
		files: map[string]string{
			"gslbctl/README.md":    "/usr/share/doc/gslbctl/README.md",
			"gslbctl/CHANGELOG.md": "/usr/share/doc/gslbctl/CHANGELOG.md",
		},
	},
	{
		name: "gslb", module: "packaging/launcher", main: "./packaging/launcher", targets: servers,
		console: true,
		summary: "global server load balancer: node and agent in one executable",
		description: "gslb is an overwatch node or an agent of the global server load balancer gslb.\n" +
			"Its configuration file selects the role.",
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

// build compiles a program and returns the path of the executable. It needs no C compiler. The executable contains no
// path of this machine.
func (r *release) build(ctx context.Context, p program, t target) (string, error) {
	path := filepath.Join(r.work, t.os+"-"+t.arch, p.name+extension(t))
	flags := fmt.Sprintf("-s -w -X %[1]s.version=%[2]s -X %[1]s.commit=%[3]s -X %[1]s.date=%[4]s",
		infoPackage, r.version, r.commit, r.date.UTC().Format(time.RFC3339))
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", flags, "-o", path, p.main)
	cmd.Env = append(os.Environ(), "GOOS="+t.os, "GOARCH="+t.arch, "CGO_ENABLED=0",
		"GOFLAGS=", "GOAMD64=v1", "GOARM64=v8.0") // fixed values, so that the bytes are equal on all machines
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
