// Command mutate breaks documented properties on purpose, each in a copy of the workspace, and runs the test that must
// notice it. It fails if a test passes, or if the text to replace does not exist.
//
//	go run ./integration/cmd/mutate [-run words]   # from the top of the workspace
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

func main() {
	only := flag.String("run", "", "only properties whose names contain this `text`")
	flag.Parse()
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	if err := all(ctx, *only); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// all breaks the properties sequentially, in a copy of the workspace that is restored after each property. only selects
// the properties whose names contain a text.
func all(ctx context.Context, only string) (err error) {
	dir, err := os.MkdirTemp("", "mutate-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := export(ctx, dir); err != nil {
		return err
	}
	missed, tried := 0, 0
	for _, m := range mutations {
		if !strings.Contains(m.property, only) {
			continue
		}
		tried++
		began := time.Now()
		verdict := "caught"
		if err := m.caught(ctx, dir); err != nil {
			verdict = "MISSED: " + err.Error()
			missed++
		}
		fmt.Printf("%s: %s by %s %s in %s\n", m.property, verdict, m.pkg, m.test, time.Since(began).Round(time.Second))
	}
	if missed > 0 || tried == 0 {
		return fmt.Errorf("%d of %d broken properties were not caught", missed, tried)
	}
	fmt.Printf("%d properties broken, all caught\n", tried)
	return nil
}

// export copies the files of the workspace, including uncommitted files, without ignored files.
func export(ctx context.Context, dir string) error {
	list, err := exec.CommandContext(ctx, "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		return fmt.Errorf("git ls-files: %w", err)
	}
	for name := range strings.SplitSeq(strings.TrimRight(string(list), "\x00"), "\x00") {
		content, err := os.ReadFile(name)
		if errors.Is(err, os.ErrNotExist) {
			continue // removed and not committed
		}
		to := filepath.Join(dir, name)
		if err := errors.Join(err, os.MkdirAll(filepath.Dir(to), 0o700)); err != nil {
			return err
		}
		if err := os.WriteFile(to, content, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// caught breaks the property in a copy of the workspace, and restores the copy. It returns nil if the test passes
// before the change and fails after it.
func (m mutation) caught(ctx context.Context, dir string) error {
	path := filepath.Join(dir, m.file)
	whole, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if strings.Count(string(whole), m.from) != 1 {
		return fmt.Errorf("%s has %q %d times, want once", m.file, m.from, strings.Count(string(whole), m.from))
	}
	if out, err := m.runTest(ctx, dir); err != nil {
		return fmt.Errorf("the test is red before: %w\n%s", err, out)
	}
	broken := strings.Replace(string(whole), m.from, m.to, 1)
	if err := os.WriteFile(path, []byte(broken), 0o600); err != nil {
		return err
	}
	out, red := m.runTest(ctx, dir)
	if err := os.WriteFile(path, whole, 0o600); err != nil {
		return err
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case red == nil:
		return errors.New("the test stayed green")
	case !strings.Contains(string(out), "--- FAIL: "+m.test):
		return fmt.Errorf("something else failed: %w\n%s", red, out)
	}
	return nil
}

func (m mutation) runTest(ctx context.Context, dir string) ([]byte, error) {
	c := exec.CommandContext(ctx, "go", "test", "-count=1", "-run", "^"+m.test+"$", "./"+m.pkg)
	c.Dir = dir
	return c.CombinedOutput()
}
