package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// completions are the paths of gslbctl's completion files for each shell.
var completions = map[string]string{
	"bash": "/usr/share/bash-completion/completions/gslbctl",
	"zsh":  "/usr/share/zsh/site-functions/_gslbctl",
	"fish": "/usr/share/fish/vendor_completions.d/gslbctl.fish",
}

// generated runs gslbctl to write its completion for each shell and its manual pages, and adds these files to all, as
// in program.files.
func (r *release) generated(ctx context.Context, all map[string]string) error {
	var tool program
	for _, p := range programs {
		if p.name == "gslbctl" {
			tool = p
		}
	}
	here := target{runtime.GOOS, runtime.GOARCH}
	binary, err := r.build(ctx, tool, here)
	if err != nil {
		return err
	}
	ask := func(args ...string) ([]byte, error) {
		out, err := exec.CommandContext(ctx, binary, args...).Output()
		if err != nil {
			return nil, fmt.Errorf("gslbctl %v: %w", args, err)
		}
		return out, nil
	}
	for shell, to := range completions {
		text, err := ask("completion", shell)
		if err != nil {
			return err
		}
		from := filepath.Join(r.work, "gslbctl."+shell)
		if err := os.WriteFile(from, text, 0o644); err != nil {
			return err
		}
		all[from] = to
	}
	pages := filepath.Join(r.work, "man")
	if err := os.MkdirAll(pages, 0o755); err != nil {
		return err
	}
	if _, err := ask("man", pages); err != nil {
		return err
	}
	all[pages+"/"] = "/usr/share/man/man1/"
	return nil
}
