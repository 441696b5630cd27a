package cli

import (
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strings"

	"gslb.internal/gslbctl/internal/pair"
	"gslb.internal/gslbctl/internal/render"
)

// nextSteps lists the written files and the next steps.
func nextSteps(r initReport, plan *pair.Plan, kept keptContext) string {
	var names []string
	for _, path := range append(slices.Clone(r.Files.Overwatch), r.Files.Agent, r.Files.Token) {
		names = append(names, filepath.Base(path))
	}
	lines := []string{"wrote in " + filepath.Dir(r.Files.Agent) + ": " + strings.Join(names, ", "), kept.remark(),
		"next:"}
	step := func(where, command string) {
		if !plan.Local {
			lines = append(lines, "  # "+where)
		}
		lines = append(lines, "  "+command)
	}
	start := func(where, program, user, path string) {
		if plan.Local {
			step(where, program+" --config "+path)
			return
		}
		step(where+", as root, with the package "+program, giveTo(program, user, path)+" && systemctl restart "+program)
	}
	for i, path := range r.Files.Overwatch {
		start("on "+r.Nodes[i].Name, "gslb-overwatch", "gslb", path)
	}
	start("next to the backends", "gslb-agent", "gslb-agent", r.Files.Agent)
	step("on "+r.Nodes[0].Name, kept.status(r.Files.Token, plan.AdminAt()))
	server, port, _ := net.SplitHostPort(r.Nodes[0].DNS)
	step("anywhere", fmt.Sprintf("dig @%s -p %s %s", server, port, r.Services[0]))
	if !plan.Local {
		lines = append(lines, "in the zone above "+r.Zone+", with the record that gslbctl dnssec ds prints:")
		for _, record := range r.Delegation {
			lines = append(lines, "  "+record)
		}
	}
	return render.Lines(lines)
}

// giveTo returns the command that copies the file at path to the configuration directory of a package. Only the user of
// the package can read the copy.
func giveTo(program, user, path string) string {
	// On its machine, the service reads overwatch.yaml, so overwatch-ns1.yaml gets this name there.
	service := filepath.Join("/etc/gslb", strings.TrimPrefix(program, "gslb-")+".yaml")
	if path == service {
		return fmt.Sprintf("chown %s:%[1]s %s", user, path)
	}
	return fmt.Sprintf("install -o %s -g %[1]s -m 600 %s %s", user, path, service)
}
