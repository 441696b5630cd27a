// Command gslb contains both roles in one executable. The key mode of the configuration file selects the role:
// overwatch or agent. The command only calls the selected role.
package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"gslb.internal/agent"
	"gslb.internal/overwatch"
	"gslb.internal/shared/command"
	"gslb.internal/shared/settings"
)

func main() {
	roles := map[string]command.Role{
		"agent": {
			Run:      func(ctx context.Context, path string) error { return agent.Run(ctx, agent.Options{ConfigPath: path}) },
			Validate: agent.Validate, Cautions: agent.Cautions, Actions: agent.Actions(),
		},
		"overwatch": {
			Run: func(ctx context.Context, path string) error {
				return overwatch.Run(ctx, overwatch.Options{ConfigPath: path})
			},
			Validate: overwatch.Validate, Cautions: overwatch.Cautions, Actions: overwatch.Actions(),
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
		Cautions: func(path string) []string {
			mode, err := settings.Mode(path, modes)
			if err != nil {
				return nil // Validate has reported the error
			}
			return roles[mode].Cautions(path)
		},
	}
	actions := map[string]map[string]command.Action{} // by flag, then by mode
	for mode, role := range roles {
		for _, action := range role.Actions {
			if actions[action.Flag] == nil {
				actions[action.Flag] = map[string]command.Action{}
			}
			actions[action.Flag][mode] = action
		}
	}
	for _, flag := range slices.Sorted(maps.Keys(actions)) {
		byMode := actions[flag]
		of := slices.Sorted(maps.Keys(byMode))
		either.Actions = append(either.Actions, command.Action{
			Flag: flag, Summary: "of mode " + strings.Join(of, " or ") + ": " + byMode[of[0]].Summary,
			Value: byMode[of[0]].Value, Flags: byMode[of[0]].Flags,
			Do: func(path string, out io.Writer) error {
				mode, err := settings.Mode(path, modes)
				if err != nil {
					return err
				}
				action, ok := byMode[mode]
				if !ok {
					return fmt.Errorf("--%s is for mode: %s, and %s says mode: %s", flag, of[0], path, mode)
				}
				return action.Do(path, out)
			},
		})
	}
	os.Exit(command.Main("gslb", either, os.Args[1:], os.Stdout, os.Stderr))
}
