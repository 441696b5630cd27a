package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/gslbctl/internal/fleet"
	"gslb.internal/gslbctl/internal/manifest"
	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/shared/api"
)

// section is a group of a node's settings.
type section struct {
	show   fleet.Request[any]
	change func(context.Context, *api.Client, []byte) (any, error) // nil: read-only
	keys   []string                                                // changeable keys
}

// sectionOf returns a section that get reads and send changes.
func sectionOf[T, A, B any](get func(*api.Client, context.Context) (A, error),
	send func(*api.Client, context.Context, T) (B, error)) section {
	change := func(ctx context.Context, c *api.Client, body []byte) (any, error) {
		var change T
		dec := json.NewDecoder(bytes.NewReader(body))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&change); err != nil {
			return nil, err
		}
		return send(c, ctx, change)
	}
	return section{shower(get), change, manifest.KeysOf(reflect.TypeFor[T]())}
}

// shower returns the show function of a section.
func shower[A any](get func(*api.Client, context.Context) (A, error)) fleet.Request[any] {
	return func(ctx context.Context, c *api.Client) (any, error) { return get(c, ctx) }
}

// configSections returns the sections of the configuration in the API.
func configSections() map[string]section {
	return map[string]section{
		"dns":          sectionOf((*api.Client).DNSConfig, (*api.Client).ChangeDNSConfig),
		"health-check": sectionOf((*api.Client).HealthCheckConfig, (*api.Client).ChangeHealthCheckConfig),
		"logging":      sectionOf((*api.Client).LoggingConfig, (*api.Client).ChangeLoggingConfig),
		"gossip":       sectionOf((*api.Client).GossipSettings, (*api.Client).ChangeGossipSettings),
		"system":       {show: shower((*api.Client).SystemConfig)},
	}
}

// changeableSections returns the names of the sections that can be changed, and reset to the file's settings.
func changeableSections() (names []string) {
	for name, s := range configSections() {
		if s.change != nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// assignments parses "key=value" words into the JSON of a change. Values are YAML; a list is [a, b]
// or a,b.
func assignments(words, known []string) ([]byte, error) {
	change := map[string]any{}
	for _, word := range words {
		key, text, found := strings.Cut(word, "=")
		if !found || key == "" {
			return nil, fmt.Errorf("%q is no setting: write key=value", word)
		}
		if !slices.Contains(known, key) {
			return nil, fmt.Errorf("%q cannot be changed: it must be one of %s", key, strings.Join(known, ", "))
		}
		if _, twice := change[key]; twice {
			return nil, fmt.Errorf("%q is given twice", key)
		}
		var value any
		if err := yaml.Unmarshal([]byte(text), &value); err != nil {
			return nil, fmt.Errorf("the value of %q is %q, which cannot be read: %w", key, text, err)
		}
		if listKeys[key] {
			value = listValue(text, value)
		}
		if value == nil {
			value = "" // key= means an empty text
		}
		change[key] = value
	}
	return json.Marshal(change)
}

// listKeys are the settings with lists as values.
var listKeys = map[string]bool{"zones": true, "seeds": true}

func listValue(text string, value any) any {
	switch value.(type) {
	case []any:
		return value
	case nil:
		return []string{}
	}
	return strings.Split(text, ",")
}

// settingsTable shows the answer of a section: each field, and whether it differs from the file.
func settingsTable(name string, answer any) (*render.Table, error) {
	encoded, err := json.Marshal(answer)
	if err != nil {
		return nil, err
	}
	var fields map[string]any
	if err := json.Unmarshal(encoded, &fields); err != nil {
		return nil, err
	}
	inner, _ := fields["config"].(map[string]any)
	if inner == nil {
		inner, _ = fields["preferences"].(map[string]any)
	}
	inner = flat(inner)
	changed, waiting := texts(fields["overlay"]), texts(fields["restart_required"])
	t := &render.Table{Columns: []render.Column{{Name: strings.ToUpper(name)}, {Name: "VALUE"}}}
	if fields["overlay"] != nil {
		t.Columns = append(t.Columns, render.Column{Name: "CHANGED BY THE API"})
	}
	for _, key := range slices.Sorted(maps.Keys(inner)) {
		row := []render.Cell{render.C(key), orNone(valueText(inner[key])),
			render.C(render.YesNo(slices.Contains(changed, key)))}
		t.Add(row[:len(t.Columns)]...)
	}
	for _, key := range waiting { // an answer that has this has an overlay as well
		t.Add(render.Cell{Text: key, Tone: render.Warn}, render.C("waits for a restart"), render.C(render.None))
	}
	return t, nil
}

// flat lifts the fields of nested objects one level, as object.field.
func flat(fields map[string]any) map[string]any {
	up := map[string]any{}
	for key, value := range fields {
		inner, isObject := value.(map[string]any)
		if !isObject {
			up[key] = value
			continue
		}
		for name, v := range flat(inner) {
			up[key+"."+name] = v
		}
	}
	return up
}

func texts(list any) []string {
	var found []string
	items, _ := list.([]any)
	for _, item := range items {
		found = append(found, fmt.Sprint(item))
	}
	return found
}

func valueText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case []any:
		return strings.Join(texts(v), " ")
	default:
		encoded, err := json.Marshal(v)
		if err != nil {
			return fmt.Sprint(v)
		}
		return string(encoded)
	}
}

// restartWaits returns the keys of an answer that wait for a restart.
func restartWaits(answer any) []string {
	encoded, err := json.Marshal(answer)
	if err != nil {
		return nil
	}
	var state api.ConfigState
	if json.Unmarshal(encoded, &state) != nil {
		return nil
	}
	return state.RestartRequired
}

func (a *app) configShowCommand() *cobra.Command {
	sections := configSections()
	names := slices.Sorted(maps.Keys(sections))
	return a.Watchable(&cobra.Command{
		Use:       "show <section>",
		Short:     "Show a section of the configuration: " + strings.Join(names, ", "),
		Args:      cobra.ExactArgs(1),
		ValidArgs: names,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, known := sections[args[0]]
			if !known {
				return fmt.Errorf("there is no section %q: it must be one of %s", args[0], strings.Join(names, ", "))
			}
			return a.showSection(cmd.Context(), args[0], s)
		},
	})
}

func (a *app) showSection(ctx context.Context, name string, s section) error {
	answer, err := fleet.First(ctx, a.Fleet, s.show)
	if err != nil {
		return err
	}
	t, err := settingsTable(name, answer)
	if err != nil {
		return err
	}
	return a.Print(answer, a.Table(t))
}

func (a *app) configSetCommand() *cobra.Command {
	sections, names := configSections(), changeableSections()
	return &cobra.Command{
		Use:   "set <section> <key>=<value> ...",
		Short: "Override settings of the configuration: " + strings.Join(names, ", "),
		Long: "set changes settings on every node. The values override the configuration file until gslbctl config\n" +
			"reset removes them. gslbctl config show lists the keys. Values are in YAML syntax.",
		Example: "  gslbctl config set dns default_ttl=60\n  gslbctl config set logging level=debug",
		Args:    cobra.MinimumNArgs(2),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return names, cobra.ShellCompDirectiveNoFileComp
			}
			var offered []string
			for _, key := range sections[args[0]].keys {
				offered = append(offered, key+"=")
			}
			return offered, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			s := sections[args[0]]
			if s.change == nil {
				return fmt.Errorf("there is no section %q to change: it must be one of %s", args[0], strings.Join(names,
					", "))
			}
			return a.changeSection(cmd.Context(), args[0], s, args[1:])
		},
	}
}

func (a *app) changeSection(ctx context.Context, name string, s section, words []string) error {
	body, err := assignments(words, s.keys)
	if err != nil {
		return err
	}
	return a.sectionChange(name)(ctx, func(ctx context.Context, c *api.Client) (string, error) {
		answer, err := s.change(ctx, c, body)
		if err != nil {
			return "", settingError(err, words)
		}
		sentence := name + " is changed: " + strings.Join(words, ", ")
		if waits := restartWaits(answer); len(waits) > 0 {
			sentence += "; only a restart changes " + strings.Join(waits, ", ")
		}
		return sentence, nil
	})
}

// sectionChange returns Change for a section that nodes replicate, else ChangeEach.
func (a *app) sectionChange(name string) func(context.Context, fleet.Change) error {
	if name == "dns" || name == "health-check" {
		return a.Change
	}
	return a.ChangeEach
}

// settingError names the "key=value" word with a value of the wrong type.
func settingError(err error, words []string) error {
	wrong, ok := errors.AsType[*json.UnmarshalTypeError](err)
	if !ok {
		return err
	}
	found := "a " + wrong.Value
	for _, word := range words {
		if value, of := strings.CutPrefix(word, wrong.Field+"="); of {
			found = strconv.Quote(value)
		}
	}
	return fmt.Errorf("%s is %s: it must be %s", wrong.Field, found, kindOf(wrong.Type))
}

func kindOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Float64:
		return "a number"
	case reflect.Slice:
		return "a list"
	case reflect.Map:
		return "a map"
	}
	return "a text"
}

func (a *app) configResetCommand() *cobra.Command {
	var yes bool
	names := changeableSections()
	cmd := &cobra.Command{
		Use:       "reset <section>",
		Short:     "Reset a section to the settings of the file: " + strings.Join(names, ", "),
		Args:      cobra.ExactArgs(1),
		ValidArgs: names,
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(names, args[0]) {
				return fmt.Errorf("there is no section %q to reset: it must be one of %s", args[0], strings.Join(names,
					", "))
			}
			if err := a.Confirm(cmd.Context(), yes,
				"resetting "+args[0]+" removes all settings of the section that the API changed"); err != nil {
				return err
			}
			return a.sectionChange(args[0])(cmd.Context(), func(ctx context.Context, c *api.Client) (string, error) {
				return args[0] + " has the settings of the file", c.ResetConfig(ctx, args[0])
			})
		},
	}
	cmdline.YesFlag(cmd, &yes)
	return cmd
}

func (a *app) preferencesCommand() *cobra.Command {
	s := sectionOf((*api.Client).Preferences, (*api.Client).ChangePreferences)
	show := a.Watchable(&cobra.Command{
		Use:   "show",
		Short: "Show the preferences of the console",
		RunE:  func(cmd *cobra.Command, _ []string) error { return a.showSection(cmd.Context(), "preference", s) },
	})
	set := &cobra.Command{
		Use:     "set <key>=<value> ...",
		Short:   "Change the preferences of the console",
		Example: "  gslbctl preferences set theme=dark timezone=Europe/Berlin",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.changeSection(cmd.Context(), "preferences", s, args)
		},
	}
	return cmdline.Group("preferences", "Show and change how people want a node shown", show, cmdline.Changing(set))
}
