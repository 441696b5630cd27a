// Command gslb-overwatch answers DNS for services that run in several places.
package main

import (
	"context"
	"os"

	"gslb.internal/overwatch"
	"gslb.internal/shared/command"
)

func main() {
	role := command.Role{
		Summary: "answers DNS with the addresses of backends that are alive.",
		Run: func(ctx context.Context, path string) error {
			return overwatch.Run(ctx, overwatch.Options{ConfigPath: path})
		},
		Validate: overwatch.Validate,
		Cautions: overwatch.Cautions,
		Actions:  overwatch.Actions(),
	}
	os.Exit(command.Main("gslb-overwatch", role, os.Args[1:], os.Stdout, os.Stderr))
}
