package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"gslb.internal/gslbctl/internal/contexts"
	"gslb.internal/gslbctl/internal/fleet"
	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/shared/api"
)

func (a *app) configValidateCommand() *cobra.Command {
	var remote bool
	cmd := &cobra.Command{
		Use:   "validate <file>",
		Short: "Validate a configuration file",
		Long: "validate checks a configuration file with the program for the mode in the file: gslb-overwatch,\n" +
			"gslb-agent or gslb, next to gslbctl or on the PATH.\n\n" +
			"With --on-node, a node checks the file. The file must be for an overwatch node without includes. The\n" +
			"file crosses the network with its secrets, so the node must have an https address or be on this\n" +
			"machine.\n\n" +
			"The exit code is 0 if the file is valid, 1 if it is invalid, 2 if it could not be checked.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if remote {
				return a.validateOnNode(cmd.Context(), args[0])
			}
			return a.validateHere(cmd.Context(), args[0])
		},
	}
	cmd.Flags().BoolVar(&remote, "on-node", false, "check the file on a node")
	return cmd
}

// configText reads a configuration file that will be sent to a node. It returns an error if the secrets of the file
// would be sent unencrypted.
func (a *app) configText(path, flag string) ([]byte, error) {
	text, err := readBounded(path, api.MaxBody)
	if err != nil {
		return nil, err
	}
	c, err := a.Cluster()
	if err != nil {
		return nil, err
	}
	for _, n := range c.Nodes {
		if !contexts.Private(n.API) {
			return nil, fmt.Errorf(
				"%s has secrets in it that would cross the network to %s unencrypted: name the node with https://, "+
					"or leave %s out", path, n.API, flag)
		}
	}
	return text, nil
}

func (a *app) validateOnNode(ctx context.Context, path string) error {
	text, err := a.configText(path, "--on-node")
	if err != nil {
		return err
	}
	v, err := fleet.First(ctx, a.Fleet, fleet.CallWith((*api.Client).ValidateConfig, text))
	if err != nil {
		return err
	}
	err = a.Print(v, func() string {
		var lines []string
		for _, e := range v.Errors {
			at := path
			if e.Line > 0 {
				at += fmt.Sprintf(":%d", e.Line)
			}
			if e.Key != "" {
				at += ": " + e.Key
			}
			lines = append(lines, at+": "+e.Message)
		}
		if v.Valid {
			lines = append(lines, path+": the configuration is valid")
		}
		return render.Lines(lines)
	})
	if err == nil && !v.Valid {
		return &fleet.Error{Code: fleet.Degraded,
			Message: render.Count(len(v.Errors), "problem", "problems") + " in the configuration"}
	}
	return err
}

func readBounded(path string, most int64) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, most+1))
	if err == nil && int64(len(text)) > most {
		err = fmt.Errorf("%s is larger than %d KiB, which no node takes", path, most>>10)
	}
	return text, err
}

// validateHere validates a file with the installed program for the mode of the file.
func (a *app) validateHere(ctx context.Context, path string) error {
	program, err := a.roleProgram(path)
	if err != nil {
		return err
	}
	defer a.Progress("checking " + path)()
	var said bytes.Buffer
	cmd := exec.CommandContext(ctx, program, "--config", path, "--validate")
	cmd.Stdout, cmd.Stderr = &said, &said
	err = cmd.Run()
	exit, ran := errors.AsType[*exec.ExitError](err)
	if err != nil && (!ran || !exit.Exited()) {
		return fmt.Errorf("running %s: %w", program, err)
	}
	v := api.ConfigValidation{Valid: err == nil, Errors: []api.ConfigError{}}
	lines := strings.Split(strings.TrimSpace(said.String()), "\n")
	if !v.Valid {
		for _, line := range lines {
			v.Errors = append(v.Errors, api.ConfigError{Message: strings.TrimPrefix(line, filepath.Base(program)+": ")})
		}
	}
	if err := a.Print(v, func() string { return render.Lines(lines) }); err != nil || v.Valid {
		return err
	}
	return &fleet.Error{Code: fleet.Degraded}
}

// roleProgram returns the path of the program for the mode of a file.
func (a *app) roleProgram(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	var head struct {
		Mode string `yaml:"mode"`
	}
	if err := yaml.NewDecoder(file).Decode(&head); err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("%s: the key mode cannot be read: it must be a YAML file with mode: overwatch or "+
			"mode: agent",
			path)
	}
	if head.Mode != "overwatch" && head.Mode != "agent" {
		return "", fmt.Errorf("%s: mode is %q: it must be overwatch or agent", path, head.Mode)
	}
	for _, name := range []string{"gslb-" + head.Mode, "gslb"} {
		if found := installed(name); found != "" {
			return found, nil
		}
	}
	return "", fmt.Errorf(
		"neither gslb-%s nor gslb is installed here: install one, or have a node check the file with --on-node",
		head.Mode)
}

// installed returns the path of a program next to gslbctl or on the PATH.
func installed(name string) string {
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	if self, err := os.Executable(); err == nil {
		beside := filepath.Join(filepath.Dir(self), name)
		if info, err := os.Stat(beside); err == nil && info.Mode().IsRegular() {
			return beside
		}
	}
	if found, err := exec.LookPath(name); err == nil {
		return found
	}
	return ""
}
