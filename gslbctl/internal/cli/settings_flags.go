package cli

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/shared/api"
	"gslb.internal/shared/check"
	"gslb.internal/shared/model"
	"gslb.internal/shared/settings"
)

// settingFlags are the flags for the declared settings of an object, one for each setting, and --reset. A flag has the
// name of its setting, with hyphens. A setting inside an object has both names, as in --latency-config-min-samples.
type settingFlags struct {
	cmd    *cobra.Command
	fields *model.Fields
	flags  []settingFlag
	reset  []string
	old    map[string]string // flags of earlier versions: old name to current name
	names  map[string]string // names of flags that collide with global flags
}

// settingFlag is the flag of a setting. path is the path of the setting in JSON.
type settingFlag struct {
	name  string
	path  []string
	value func() any
}

// addSettingFlags adds the flags for the settings of an object, without the settings in skip. old maps the flag names
// of earlier versions to the current names; the old flags are hidden.
func addSettingFlags(cmd *cobra.Command, fields *model.Fields, old map[string]string, skip ...string) *settingFlags {
	s := &settingFlags{cmd: cmd, fields: fields, old: old, names: map[string]string{"timeout": "check-timeout"}}
	s.add(fields, nil, skip)
	for before, now := range old {
		f := *cmd.Flags().Lookup(now)
		f.Name, f.Hidden = before, true
		cmd.Flags().AddFlag(&f)
	}
	cmd.Flags().StringSliceVar(&s.reset, "reset", nil,
		"`settings` to reset to their defaults, separated by commas, such as ttl,max_answers")
	_ = cmd.RegisterFlagCompletionFunc("reset", cobra.FixedCompletions(s.settings(),
		cobra.ShellCompDirectiveNoFileComp))
	return s
}

// settings returns the JSON names of the settings. A setting inside an object has the name of the object.
func (s *settingFlags) settings() (names []string) {
	for _, f := range s.flags {
		if name := s.fields.Find(f.path[0]).JSON; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// add adds the flags of fields. above is the path of the enclosing object in JSON.
func (s *settingFlags) add(fields *model.Fields, above, skip []string) {
	for i := range fields.List {
		f := &fields.List[i]
		if f.Source != model.FromOperator || slices.Contains(skip, f.JSON) {
			continue
		}
		path := append(slices.Clone(above), f.JSON)
		if f.Alias != "" {
			path = append(slices.Clone(above), f.Alias) // version 0.9.0 requires the alias
		}
		if inner := f.Inner(); inner != nil {
			s.add(inner, path, nil)
			continue
		}
		name := strings.ReplaceAll(strings.Join(append(slices.Clone(above), f.JSON), "-"), "_", "-")
		name = cmp.Or(s.names[name], name)
		s.flags = append(s.flags, settingFlag{name, path, s.define(name, f)})
	}
}

// define adds one flag and returns a function that returns its value.
func (s *settingFlags) define(name string, f *model.Field) func() any {
	flags, usage := s.cmd.Flags(), f.Usage
	if f.Default != "" && f.Type.Kind() != reflect.Bool { // pflag adds the default of a bool
		usage += " (default " + f.Default + ")"
	}
	t := f.Type
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == reflect.TypeFor[settings.Duration]():
		v := flags.String(name, "", usage)
		return func() any { return *v }
	case t.Kind() == reflect.Bool:
		v := flags.Bool(name, true, usage)
		return func() any { return *v }
	case t.Kind() == reflect.Map:
		v := flags.StringToString(name, nil, usage)
		return func() any { return *v }
	case t.Kind() == reflect.Int:
		v := flags.Int(name, 0, usage)
		return func() any { return *v }
	case t.Kind() == reflect.Float64:
		v := flags.Float64(name, 0, usage)
		return func() any { return *v }
	case t.Kind() == reflect.Slice:
		v := flags.StringSlice(name, nil, usage)
		return func() any { return append([]string{}, *v...) }
	}
	v := flags.String(name, "", usage)
	return func() any { return *v }
}

// given reports whether the command line contains --reset or a flag of a setting.
func (s *settingFlags) given() bool {
	return len(s.reset) > 0 || slices.ContainsFunc(s.flags, func(f settingFlag) bool { return s.changed(f.name) })
}

// changed reports whether the command line contains a flag, by its current name or an old name.
func (s *settingFlags) changed(name string) bool {
	f := s.cmd.Flags().Lookup(name)
	changed := f.Changed
	s.cmd.Flags().Visit(func(other *pflag.Flag) { changed = changed || other.Value == f.Value })
	return changed
}

// patch returns a merge patch with the settings of the given flags, and null for each setting in --reset. It prints a
// warning for each old flag name.
func (s *settingFlags) patch() (map[string]any, error) {
	patch := map[string]any{}
	for _, before := range slices.Sorted(maps.Keys(s.old)) {
		if s.cmd.Flags().Changed(before) {
			s.cmd.PrintErrf("--%s is an old name, which version 2.0 removes: use --%s\n", before, s.old[before])
		}
	}
	for _, f := range s.flags {
		if !s.changed(f.name) {
			continue
		}
		at := patch
		for _, name := range f.path[:len(f.path)-1] {
			inner, there := at[name].(map[string]any)
			if !there {
				inner = map[string]any{}
				at[name] = inner
			}
			at = inner
		}
		at[f.path[len(f.path)-1]] = f.value()
	}
	for _, name := range s.reset {
		name = strings.ReplaceAll(name, "-", "_")
		field := s.fields.Find(name)
		switch {
		case field == nil || !slices.Contains(s.settings(), field.JSON):
			return nil, fmt.Errorf("--reset: no setting is named %q: known are %s", name, strings.Join(s.settings(),
				", "))
		case patch[field.JSON] != nil || patch[field.Alias] != nil:
			return nil, fmt.Errorf("--reset has %s, and a flag sets it: remove one of the two", name)
		}
		patch[field.JSON] = nil
	}
	return patch, nil
}

// errNoSetting returns the error of a command line without a change. The message lists the flags and the names in
// others.
func (s *settingFlags) errNoSetting(others ...string) error {
	names := []string{}
	for _, f := range s.flags {
		names = append(names, "--"+f.name)
	}
	for _, other := range append(others, "reset") {
		names = append(names, "--"+other)
	}
	return errors.New("nothing to change: give one of " + strings.Join(names, ", "))
}

// serverFlags adds the flags for the settings of a server, without its id.
func (a *app) serverFlags(cmd *cobra.Command) *settingFlags {
	s := addSettingFlags(cmd, api.ServerChange(nil).Declared(), map[string]string{"allow": "allowed-cidrs"},
		"service", "address", "target", "port")
	_ = cmd.RegisterFlagCompletionFunc("region", a.Complete(allRegionNames))
	_ = cmd.RegisterFlagCompletionFunc("agent", a.Complete(agentNames))
	offerCheckTypes(cmd, "health-check-type")
	return s
}

// checkFlags adds the flags for the settings of a health check.
func (a *app) checkFlags(cmd *cobra.Command) *settingFlags {
	s := addSettingFlags(cmd, api.HealthCheckChange(nil).Declared(), nil)
	offerCheckTypes(cmd, "type")
	return s
}

// offerCheckTypes completes the value of a flag for the type of a health check.
func offerCheckTypes(cmd *cobra.Command, flag string) {
	var names []string
	for _, t := range check.AllTypes() {
		names = append(names, string(t))
	}
	cmdline.Offer(cmd, flag, names)
}

// domainFlags adds the flags for the settings of a domain, without the HTTPS records.
func (a *app) domainFlags(cmd *cobra.Command) *settingFlags {
	s := addSettingFlags(cmd, api.DomainChange(nil).Declared(), map[string]string{
		"policy": "routing-algorithm", "fallback": "fallback-algorithm",
		"proximity-tolerance": "proximity-tolerance-km", "client-ipv4-prefix": "client-hash-ipv4-prefix",
		"client-ipv6-prefix": "client-hash-ipv6-prefix", "signed": "dnssec-enabled",
	}, "name", "https")
	cmdline.Offer(cmd, "answer", []string{model.AnswerAddress, model.AnswerCNAME})
	cmdline.Offer(cmd, "on-all-down", []string{"servfail", "last_healthy", "all"})
	for _, flag := range []string{"routing-algorithm", "policy", "fallback-algorithm", "fallback"} {
		_ = cmd.RegisterFlagCompletionFunc(flag, a.Complete(policyNames))
	}
	_ = cmd.RegisterFlagCompletionFunc("regions", a.CompleteList(allRegionNames))
	_ = cmd.RegisterFlagCompletionFunc("tags", a.CompleteList(tagNames))
	return s
}
