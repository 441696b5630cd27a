// Command gslb-agent checks backends and reports their health to overwatch nodes.
package main

import (
	"context"
	"os"

	"gslb.internal/agent"
	"gslb.internal/shared/command"
)

func main() {
	role := command.Role{
		Summary:  "checks backends and reports their health to overwatch nodes.",
		Run:      func(ctx context.Context, path string) error { return agent.Run(ctx, agent.Options{ConfigPath: path}) },
		Validate: agent.Validate,
		Cautions: agent.Cautions,
		Actions:  agent.Actions(),
	}
	os.Exit(command.Main("gslb-agent", role, os.Args[1:], os.Stdout, os.Stderr))
}
