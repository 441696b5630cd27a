// Command gslb is both roles in one executable: it becomes an overwatch node or an agent by the configuration's key
// mode, and adds nothing else.
package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"gslb.internal/agent"
	"gslb.internal/overwatch"
	"gslb.internal/shared/command"
	"gslb.internal/shared/settings"
)

func main() {
	roles := map[string]command.Role{
		"agent": {
			Run:      func(ctx context.Context, path string) error { return agent.Run(ctx, agent.Options{ConfigPath: path}) },
			Validate: agent.Validate,
		},
		"overwatch": {
			Run: func(ctx context.Context, path string) error {
				return overwatch.Run(ctx, overwatch.Options{ConfigPath: path})
			},
			Validate: overwatch.Validate,
		},
	}
	modes := slices.Sorted(maps.Keys(roles))
	either := command.Role{
		Summary: "an overwatch node or an agent, as mode in the configuration says.",
		Run: func(ctx context.Context, path string) error {
			mode, err := settings.Mode(path, modes)
			if err != nil {
				return err
			}
			return roles[mode].Run(ctx, path)
		},
		Validate: func(path string) error {
			mode, err := settings.Mode(path, modes)
			if err != nil {
				return err
			}
			return roles[mode].Validate(path)
		},
	}
	for _, action := range agent.Actions() {
		either.Actions = append(either.Actions, command.Action{
			Flag: action.Flag, Summary: "of an agent: " + action.Summary,
			Do: func(path string, out io.Writer) error {
				mode, err := settings.Mode(path, modes)
				if err == nil && mode != "agent" {
					err = fmt.Errorf("--%s is for agents, and %s says mode: %s", action.Flag, path, mode)
				}
				if err != nil {
					return err
				}
				return action.Do(path, out)
			},
		})
	}
	os.Exit(command.Main("gslb", either, os.Args[1:], os.Stdout, os.Stderr))
}
