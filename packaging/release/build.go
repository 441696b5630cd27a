package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

const infoPackage = "gslb.internal/shared/buildinfo"

// build compiles a program and returns the path of the executable. It needs no C compiler and records no path of this
// machine.
func (r *release) build(ctx context.Context, p program, t target, version string) (string, error) {
	path := filepath.Join(r.work, t.os+"-"+t.arch, p.name+extension(t))
	flags := fmt.Sprintf("-s -w -X %[1]s.version=%[2]s -X %[1]s.commit=%[3]s -X %[1]s.date=%[4]s",
		infoPackage, version, r.commit, r.date.UTC().Format(time.RFC3339))
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", flags, "-o", path, p.main)
	cmd.Env = append(os.Environ(), "GOOS="+t.os, "GOARCH="+t.arch, "CGO_ENABLED=0",
		"GOFLAGS=", "GOAMD64=v1", "GOARM64=v8.0") // not this machine's, so that the bytes are the same elsewhere
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
