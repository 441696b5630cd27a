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
			Validate: agent.Validate, Actions: agent.Actions(),
		},
		"overwatch": {
			Run: func(ctx context.Context, path string) error {
				return overwatch.Run(ctx, overwatch.Options{ConfigPath: path})
			},
			Validate: overwatch.Validate, Actions: overwatch.Actions(),
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
	for _, mode := range modes {
		for _, action := range roles[mode].Actions {
			either.Actions = append(either.Actions, command.Action{
				Flag: action.Flag, Summary: "of mode " + mode + ": " + action.Summary,
				Do: func(path string, out io.Writer) error {
					is, err := settings.Mode(path, modes)
					if err == nil && is != mode {
						err = fmt.Errorf("--%s is for mode: %s, and %s says mode: %s", action.Flag, mode, path, is)
					}
					if err != nil {
						return err
					}
					return action.Do(path, out)
				},
			})
		}
	}
	os.Exit(command.Main("gslb", either, os.Args[1:], os.Stdout, os.Stderr))
}
