package demo

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gslb.internal/integration/harness"
)

// hints returns commands to paste into another terminal. They use nodes and a backend that run; without a running node,
// hints returns the key that starts one.
func (s *scene) hints(b harness.Binaries) []string {
	up := s.running()
	if len(up) == 0 {
		return []string{"no overwatch node runs: press r"}
	}
	first, second := up[0], up[len(up)-1]
	backend := s.replicas[0]
	if i := slices.IndexFunc(s.replicas, func(r replica) bool { return r.Running() }); i >= 0 {
		backend = s.replicas[i]
	}
	control := fmt.Sprintf("%s --api http://%s", quoted(fromHere(b.Control)), first.API)
	return []string{
		fmt.Sprintf("http://%s/   # the console, in a browser", first.API),
		fmt.Sprintf("dig @%s -p %d %s +short", first.DNS.Addr(), first.DNS.Port(), appName),
		fmt.Sprintf("dig @%s -p %d +tcp %s", second.DNS.Addr(), second.DNS.Port(), apiName),
		fmt.Sprintf("curl -X POST http://%s/unhealthy   # and /healthy", backend.At),
		fmt.Sprintf("curl http://%s/api/v1/overwatch/backends", first.API),
		control + " backends",
		control + " agents list",
	}
}

// quoted returns a path, with quotes if a shell would otherwise split it.
func quoted(path string) string {
	if !strings.ContainsFunc(path, func(r rune) bool { return strings.ContainsRune(" \t\n'\"$`\\&;|<>()*?[]#~!{}", r) }) {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

// fromHere returns a path relative to the working directory if the path is below it.
func fromHere(path string) string {
	dir, err := os.Getwd()
	if err != nil {
		return path
	}
	short, err := filepath.Rel(dir, path)
	if err != nil || strings.HasPrefix(short, "..") {
		return path
	}
	return short
}
