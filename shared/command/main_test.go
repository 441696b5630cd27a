package command_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"gslb.internal/shared/command"
	"gslb.internal/shared/settings"
)

// invoke runs Main with a role whose Run and Validate return err.
func invoke(err error, args ...string) (code int, stdout, stderr string, ran string) {
	var out, errOut bytes.Buffer
	var color, coats string
	role := command.Role{
		Summary:  "does nothing.",
		Run:      func(_ context.Context, path string) error { ran = "run " + path; return err },
		Validate: func(path string) error { ran = "validate " + path; return err },
		Cautions: func(path string) []string { return []string{"the floor is wet"} },
		Actions: []command.Action{{Flag: "polish", Summary: "make it shine", Do: func(path string, out io.Writer) error {
			ran = "polish " + path
			fmt.Fprintln(out, "shiny")
			return err
		}}, {Flag: "paint-it", Value: "COLOR", Summary: "paint it", Flags: func(f *flag.FlagSet) {
			f.StringVar(&color, "paint-it", "", "")
			f.StringVar(&coats, "coats", "", "")
		}, Do: func(path string, _ io.Writer) error {
			ran = "paint " + path + " " + color + " " + coats
			return err
		}}},
	}
	code = command.Main("gslb-test", role, args, &out, &errOut)
	return code, out.String(), errOut.String(), ran
}

func TestMain_WhatTheArgumentsSay(t *testing.T) {
	problems := settings.Problems{
		{File: "a.yaml", Line: 3, Key: "mode", Message: "is missing"},
		{Key: "dns", Message: "is missing"},
	}
	for _, c := range []struct {
		name   string
		err    error
		args   []string
		code   int
		ran    string
		stdout string // part of
		stderr string // part of
	}{
		{"run", nil, []string{"--config", "x.yaml"}, 0, "run x.yaml", "", ""},
		{"an action", nil, []string{"--config", "x", "--polish"}, 0, "polish x", "shiny", ""},
		{"an action as a word", nil, []string{"polish", "--config", "x"}, 0, "polish x", "shiny", ""},
		{"no such action", nil, []string{"paint", "--config", "x"}, 2, "", "", "unexpected argument \"paint\""},
		{"one hyphen and equals sign", nil, []string{"-config=x.yaml"}, 0, "run x.yaml", "", ""},
		{"run fails", errors.New("port 53: in use"), []string{"--config", "x"}, 1, "run x", "",
			"gslb-test: port 53: in use\n"},
		{"run with a wrong configuration", fmt.Errorf("loading: %w", problems), []string{"--config", "x"}, 2, "run x", "",
			"gslb-test: 2 problems in the configuration\n"},
		{"validate", nil, []string{"--config", "x", "--validate"}, 0, "validate x",
			"x: the configuration is valid\nx: caution: the floor is wet\n", ""},
		{"validate tells everything", problems, []string{"--validate", "--config", "x"}, 2, "validate x", "",
			"gslb-test: a.yaml:3: mode: is missing\ngslb-test: dns: is missing\n"},
		{"validate without a file", nil, []string{"--validate"}, 2, "", "", "--config is missing"},
		{"an action", nil, []string{"--config", "x", "--polish"}, 0, "polish x", "shiny\n", ""},
		{"an action fails", errors.New("no polish left"), []string{"--polish", "--config", "x"}, 1, "polish x", "",
			"no polish left"},
		{"an action with a value", nil, []string{"paint-it", "red", "--coats", "2", "--config", "x"}, 0, "paint x red 2",
			"", ""},
		{"a flag of an action alone", nil, []string{"--config", "x", "--coats", "2"}, 2, "", "",
			"--coats requires --paint-it"},
		{"an action without a file", nil, []string{"--polish"}, 2, "", "", "--config is missing"},
		{"help of an action", nil, []string{"--help"}, 0, "", "polish   --config FILE  make it shine, and exit", ""},
		{"nothing", nil, nil, 2, "", "", "--config is missing"},
		{"unknown flag", nil, []string{"--confg", "x"}, 2, "", "", "there is no flag --confg\n"},
		{"flag without its value", nil, []string{"--config"}, 2, "", "", "--config needs a value\n"},
		{"switch with a value", nil, []string{"--config", "x", "--validate=perhaps"}, 2, "", "",
			`invalid boolean value "perhaps"`},
		{"two things at once", nil, []string{"--config", "x", "--validate", "--polish"}, 2, "", "",
			"--validate and --polish cannot be had at once: give one of them\n"},
		{"stray argument", nil, []string{"--config", "x", "y"}, 2, "", "", `unexpected argument "y"`},
		{"version", nil, []string{"--version"}, 0, "", "gslb-test ", ""},
		{"help", nil, []string{"--help"}, 0, "", "--config FILE", ""},
		{"validate as a word", nil, []string{"validate", "--config", "x"}, 0, "validate x", "x: the configuration is valid\n",
			""},
		{"version as a word", nil, []string{"version"}, 0, "", "gslb-test ", ""},
		{"help as a word", nil, []string{"help"}, 0, "", "--config FILE", ""},
		{"a file as a word", nil, []string{"config", "x"}, 2, "", "", "unexpected argument \"config\""},
	} {
		t.Run(c.name, func(t *testing.T) {
			code, stdout, stderr, ran := invoke(c.err, c.args...)
			if code != c.code || ran != c.ran {
				t.Errorf("exit code %d after %q, want %d after %q", code, ran, c.code, c.ran)
			}
			if !strings.Contains(stdout, c.stdout) || !strings.Contains(stderr, c.stderr) {
				t.Errorf("stdout %q, stderr %q", stdout, stderr)
			}
			if code == command.ExitOK && stderr != "" || code != command.ExitOK && stderr == "" {
				t.Errorf("exit code %d with %q on stderr", code, stderr)
			}
		})
	}
}

func TestMain_ReloadSignalsAValidatedProcess(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // the system has no such signal
	}
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	t.Cleanup(func() { signal.Stop(hangups) })
	pid := strconv.Itoa(os.Getpid())
	faulty := settings.Problems{{Key: "dns", Message: "is missing"}}
	if code, _, stderr, _ := invoke(faulty, "--config", "x", "--reload", pid); code != 2 ||
		!strings.Contains(stderr, "1 problem") {
		t.Errorf("a faulty file: %d %s", code, stderr)
	}
	select {
	case <-hangups:
		t.Error("a faulty file is reloaded")
	default:
	}
	if code, _, stderr, ran := invoke(nil, "--config", "x", "--reload", pid); code != 0 || ran != "validate x" {
		t.Errorf("%d %s %s", code, stderr, ran)
	}
	select {
	case <-hangups:
	case <-time.After(10 * time.Second):
		t.Error("no SIGHUP")
	}
	for _, pid := range []string{"0", "1", "-1", "x", ""} {
		if code, _, stderr, ran := invoke(nil, "--config", "x", "--reload", pid); code != 2 || ran != "" ||
			!strings.Contains(stderr, "reload") {
			t.Errorf("--reload %q: %d %s %s", pid, code, stderr, ran)
		}
	}
	if code, _, stderr, _ := invoke(nil, "--config", "x", "--reload", "2147483646"); code != 1 ||
		!strings.Contains(stderr, "--reload 2147483646: ") {
		t.Errorf("a process that does not exist: %d %s", code, stderr)
	}
}

func TestMain_SignalAsksTheRoleToStop(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		role := command.Role{Run: func(ctx context.Context, _ string) error {
			self, err := os.FindProcess(os.Getpid())
			if err != nil {
				return err
			}
			if err := self.Signal(signal); err != nil {
				return err
			}
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(30 * time.Second):
				return errors.New("not asked to stop")
			}
		}}
		var stderr bytes.Buffer
		if code := command.Main("gslb-test", role, []string{"--config", "x"}, &stderr, &stderr); code != command.ExitOK {
			t.Errorf("%s: exit code %d, %s", signal, code, stderr.String())
		}
	}
}
