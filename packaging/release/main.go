// Command release creates the artifacts of a release from one commit: static binaries in archives, deb and rpm
// packages, a CycloneDX bill of materials for each, and checksums, which are signed if there is a key. The same commit
// results in the same bytes on any machine with the same Go version.
//
// It runs at the root of the repository; `make dist` calls it. It never publishes an artifact and never changes the
// repository outside the directory of the artifacts.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// release holds the parameters of all artifacts.
type release struct {
	out     string // directory of the artifacts
	work    string // directory for temporary files
	commit  string
	date    time.Time // time of the commit, used for every packed file
	version string    // of all programs and packages
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	r := &release{}
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	flags.StringVar(&r.out, "out", "dist", "`directory` to write to; existing content is removed")
	flags.StringVar(&r.commit, "commit", "", "the commit that is built")
	date := flags.String("date", "", "its `time`, RFC 3339")
	only := flags.String("only", "", "make only the artifacts of these programs and platforms: "+
		"`patterns` with commas between them, such as gslb-agent/linux/amd64 or */linux/*")
	keyFile := flags.String("sign", os.Getenv(keyVariable),
		"sign SHA256SUMS with this secret key of minisign, a `file`; "+passwordVariable+
			" in the environment has its password")
	flags.StringVar(&r.version, "version", "", "`version` of all programs and packages, such as 1.0.0-rc.1")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if r.version == "" {
		return errors.New("-version is missing: give the version, such as 1.0.0-rc.1")
	}
	var err error
	if r.date, err = time.Parse(time.RFC3339, *date); err != nil {
		return fmt.Errorf("-date: %w", err)
	}
	key, err := signer(*keyFile) // first, so that an invalid key fails early
	if err != nil {
		return err
	}
	if err := os.RemoveAll(r.out); err != nil {
		return err
	}
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return err
	}
	if r.work, err = os.MkdirTemp("", "gslb-release-"); err != nil {
		return err
	}
	defer os.RemoveAll(r.work)
	if err := r.make(ctx, *only); err != nil {
		return err
	}
	return r.sign(key)
}

// make creates all artifacts and SHA256SUMS. If only is not empty, it creates the artifacts of the programs and
// platforms that match one of its patterns.
func (r *release) make(ctx context.Context, only string) error {
	patterns := strings.Split(only, ",")
	matched := make([]bool, len(patterns))
	for _, p := range programs {
		for _, t := range p.targets {
			wanted := only == ""
			for i, pattern := range patterns {
				if ok, err := path.Match(pattern, p.name+"/"+t.String()); err != nil {
					return fmt.Errorf("-only %s: %w", pattern, err)
				} else if ok {
					wanted, matched[i] = true, true
				}
			}
			if !wanted {
				continue
			}
			if err := r.artifacts(ctx, p, t); err != nil {
				return fmt.Errorf("%s for %s: %w", p.name, t, err)
			}
		}
	}
	if i := slices.Index(matched, false); only != "" && i >= 0 {
		p := programs[0]
		return fmt.Errorf("-only %s: there is no such program and platform; one is %s/%s", patterns[i], p.name, p.targets[0])
	}
	if err := r.formula(); err != nil {
		return fmt.Errorf("formula: %w", err)
	}
	return r.sums()
}

// artifacts creates the bill of materials, the archive and, for Linux, the packages of one program for one platform.
func (r *release) artifacts(ctx context.Context, p program, t target) error {
	binary, err := r.build(ctx, p, t)
	if err != nil {
		return err
	}
	base := fmt.Sprintf("%s_%s_%s_%s", p.name, r.version, t.os, t.arch)
	list, err := libraries(binary)
	if err != nil {
		return err
	}
	if p.console {
		text, err := os.ReadFile(consoleLicenses)
		if err != nil {
			return err
		}
		console, err := consoleLibraries(string(text))
		if err != nil {
			return err
		}
		list = append(list, console...)
	}
	licenses := filepath.Join(r.work, t.os+"-"+t.arch, p.name+".third-party.txt")
	if err := os.WriteFile(licenses, thirdParty(p, list), 0o644); err != nil {
		return err
	}
	bom, err := r.bill(binary, p, t, list)
	if err != nil {
		return fmt.Errorf("bill of materials: %w", err)
	}
	if err := os.WriteFile(filepath.Join(r.out, base+".cdx.json"), bom, 0o644); err != nil {
		return err
	}
	if err := r.archive(binary, licenses, p, t, base); err != nil {
		return fmt.Errorf("archive: %w", err)
	}
	if t.os == "linux" {
		return r.packages(ctx, binary, licenses, bom, p, t)
	}
	return nil
}
