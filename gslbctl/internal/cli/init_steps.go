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

// nextSteps tells which files were written, and what to do with them.
func nextSteps(r initReport, plan *pair.Plan, kept keptContext) string {
	server, port, _ := net.SplitHostPort(r.Nodes[0].DNS)
	var commands []step
	for i, path := range r.Files.Overwatch {
		commands = append(commands, start("gslb-overwatch", "gslb", path, "on "+r.Nodes[i].Name, plan.Local))
	}
	commands = append(commands, start("gslb-agent", "gslb-agent", r.Files.Agent, "beside the backends", plan.Local))
	commands = append(commands, step{kept.status(r.Files.Token, plan.AdminAt()), "on " + r.Nodes[0].Name},
		step{fmt.Sprintf("  dig @%s -p %s %s", server, port, r.Services[0]), "anywhere"})
	var names []string
	for _, path := range append(slices.Clone(r.Files.Overwatch), r.Files.Agent, r.Files.Token) {
		names = append(names, filepath.Base(path))
	}
	steps := []string{"wrote in " + filepath.Dir(r.Files.Agent) + ": " + strings.Join(names, ", ")}
	steps = append(steps, kept.remark())
	steps = append(append(steps, "next:"), stepLines(commands, plan.Local)...)
	if !plan.Local {
		steps = append(steps, "in the zone above "+r.Zone+", with the record that gslbctl dnssec ds prints:")
		for _, record := range r.Delegation {
			steps = append(steps, "  "+record)
		}
	}
	return render.Lines(steps)
}

// start returns the step that starts a program with its file: by hand on this machine, else as the package's service,
// whose user alone may read the file.
func start(program, user, path, where string, local bool) step {
	if local {
		return step{"  " + program + " --config " + path, where}
	}
	// The name that the service reads: overwatch-ns1.yaml of several nodes is overwatch.yaml on its own machine.
	service := filepath.Join("/etc/gslb", strings.TrimPrefix(program, "gslb-")+".yaml")
	give := fmt.Sprintf("install -o %s -g %[1]s -m 600 %s %s", user, path, service)
	if path == service {
		give = fmt.Sprintf("chown %s:%[1]s %s", user, path)
	}
	return step{"  " + give + " && systemctl restart " + program, where + ", as root, with the package " + program}
}

// step is a command and the machine to run it on.
type step struct{ command, where string }

// stepLines returns the steps as lines. With local, all are for this machine.
func stepLines(steps []step, local bool) (lines []string) {
	for _, s := range steps {
		if !local {
			lines = append(lines, "  # "+s.where)
		}
		lines = append(lines, s.command)
	}
	return lines
}
