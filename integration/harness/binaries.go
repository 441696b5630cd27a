package harness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Binaries has the paths of the programs of a cluster.
type Binaries struct {
	Overwatch string // gslb-overwatch
	Agent     string // gslb-agent
	Control   string // gslbctl
	Launcher  string // gslb
	Backend   string // the small HTTP backend of this module
}

// Build fills Binaries. It uses programs that exist in dir, and builds the others from the workspace around the working
// directory into scratch. If dir is empty, it builds all programs.
func Build(ctx context.Context, dir, scratch string) (Binaries, error) {
	var b Binaries
	programs := []struct {
		path    *string
		name    string
		pkgPath string
	}{
		{&b.Overwatch, "gslb-overwatch", "./overwatch/cmd/gslb-overwatch"},
		{&b.Agent, "gslb-agent", "./agent/cmd/gslb-agent"},
		{&b.Control, "gslbctl", "./gslbctl/cmd/gslbctl"},
		{&b.Launcher, "gslb", "./packaging/launcher"},
		{&b.Backend, "backend", "./integration/cmd/backend"},
	}
	for _, p := range programs {
		path, err := find(dir, p.name)
		if err == nil && path == "" {
			path = filepath.Join(scratch, p.name)
			err = goBuild(ctx, path, p.pkgPath)
		}
		if err != nil {
			return Binaries{}, err
		}
		*p.path = path
	}
	return b, nil
}

// find returns the absolute path of dir/name, "" if the file does not exist.
func find(dir, name string) (string, error) {
	if dir == "" {
		return "", nil
	}
	path, err := filepath.Abs(filepath.Join(dir, name))
	if err != nil {
		return "", fmt.Errorf("directory of the programs %s: %w", dir, err)
	}
	_, err = os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	return path, err
}

func goBuild(ctx context.Context, path, pkgPath string) error {
	root, err := Workspace()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-o", path, pkgPath)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build %s in %s: %w\n%s", pkgPath, root, err, out)
	}
	return nil
}

// Workspace returns the nearest directory with a go.work, from the working directory upwards.
func Workspace() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("looking for go.work: %w", err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.work")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("no go.work above the working directory: run this inside the gslb repository")
		}
		dir = parent
	}
}
