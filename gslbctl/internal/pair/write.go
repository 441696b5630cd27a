package pair

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"text/template"
)

//go:embed overwatch.yaml.tmpl
var overwatchText string

//go:embed agent.yaml.tmpl
var agentText string

// Files are the pair on the disk.
type Files struct {
	Overwatch string `json:"overwatch"`
	Agent     string `json:"agent"`
}

// facts are what the templates show.
type facts struct {
	Plan
	GossipKey string
	Tokens    map[string]string
	Kind      string // of the health check
	Path      string
}

// Write makes both files in a directory, readable by their owner only, or
// none. Files that are there already are left alone, which is an error.
func Write(dir string, plan Plan) (Files, Plan, error) {
	plan, err := plan.complete()
	if err != nil {
		return Files{}, plan, err
	}
	f := facts{Plan: plan, GossipKey: GossipKey(), Tokens: map[string]string{}}
	f.Kind, f.Path, _ = plan.check()
	for _, s := range plan.Services {
		f.Tokens[s.Name] = Token()
	}
	files := Files{Overwatch: filepath.Join(dir, "overwatch.yaml"), Agent: filepath.Join(dir, "agent.yaml")}
	overwatch, err := f.fill("overwatch.yaml", overwatchText)
	if err != nil {
		return Files{}, plan, err
	}
	agent, err := f.fill("agent.yaml", agentText)
	if err != nil {
		return Files{}, plan, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return Files{}, plan, fmt.Errorf("making the directory of the configurations: %w", err)
	}
	if err := create(files.Overwatch, overwatch); err != nil {
		return Files{}, plan, err
	}
	if err := create(files.Agent, agent); err != nil {
		os.Remove(files.Overwatch)
		return Files{}, plan, err
	}
	return files, plan, nil
}

func (f facts) fill(name, text string) ([]byte, error) {
	quoted := template.FuncMap{"quote": func(v any) (string, error) {
		encoded, err := json.Marshal(v) // a JSON text is a YAML text
		return string(encoded), err
	}}
	t, err := template.New(name).Funcs(quoted).Parse(text)
	if err != nil {
		return nil, fmt.Errorf("template of %s: %w", name, err)
	}
	var out bytes.Buffer
	if err := t.Execute(&out, f); err != nil {
		return nil, fmt.Errorf("template of %s: %w", name, err)
	}
	return out.Bytes(), nil
}

func create(path string, text []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is there already: name another directory, or move it away", path)
	}
	if err != nil {
		return fmt.Errorf("writing the configuration: %w", err)
	}
	_, err = file.Write(text)
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		os.Remove(path)
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}
