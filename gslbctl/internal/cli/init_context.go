package cli

import (
	"fmt"
	"path/filepath"
	"reflect"

	"gslb.internal/gslbctl/internal/contexts"
	"gslb.internal/gslbctl/internal/pair"
)

// keptContext is the context that init creates for the nodes, or the reason why it creates none.
type keptContext struct {
	name, path string
	context    contexts.Context
	current    bool   // the context is the current context after init
	why        string // the reason without a context; name is "" in this case
}

// contextToMake returns the context for a plan with files in a directory. It writes no file. It returns an error if a
// context of this name exists for another cluster.
func (a *app) contextToMake(dir string, plan pair.Plan) (keptContext, error) {
	plan, err := plan.Complete()
	if err != nil {
		return keptContext{}, err
	}
	var k keptContext
	path, homeless := a.ContextsPath()
	if homeless != nil { // the configuration files are useful without a context
		k.why = homeless.Error()
		return k, nil //nolint:nilerr // why contains the reason
	}
	k.path = path
	k.name = a.Context
	if k.name == "" {
		k.name = plan.Zone
		if contexts.CheckName(k.name) != nil {
			k.name = "gslb" // the name of the zone is too long for a context
		}
	}
	if err := contexts.CheckName(k.name); err != nil {
		return k, fmt.Errorf("--context: %w", err)
	}
	k.context.TokenFile = filepath.Join(dir, pair.TokenFile)
	for _, at := range plan.AdminAt() {
		k.context.Nodes = append(k.context.Nodes, contexts.Node{API: at.API, DNS: at.DNS})
	}
	if len(k.context.Nodes) == 0 {
		k = keptContext{why: "the API does not listen on loopback, and a token must not cross the network unencrypted"}
		return k, nil
	}
	f, err := contexts.Load(k.path)
	if err != nil {
		return k, err
	}
	if other, there := f.Contexts[k.name]; there && !reflect.DeepEqual(other, k.context) {
		return k, fmt.Errorf("there is a context %q for another cluster in %s, and nothing was written: name "+
			"another one with --context, or delete that one with gslbctl context delete %[1]s", k.name, k.path)
	}
	k.current = f.Current == "" || f.Current == k.name
	return k, nil
}

// save writes the context to the file, and makes it the current context if current is set. It does nothing without a
// context.
func (k keptContext) save() error {
	if k.name == "" {
		return nil
	}
	return contexts.Change(k.path, func(f *contexts.File) error {
		f.Contexts[k.name] = k.context
		if k.current {
			f.Current = k.name
		}
		return nil
	})
}

// status returns the command line of gslbctl status for the new nodes.
func (k keptContext) status(tokenFile string, at []pair.Reached) string {
	switch {
	case k.name == "" && len(at) > 0:
		return "GSLB_TOKEN=$(cat " + tokenFile + ") gslbctl --api " + at[0].API + " status"
	case k.name == "":
		return "gslbctl context set gslb --api https://NODE --token-file " + tokenFile
	case k.current:
		return "gslbctl status"
	}
	return "gslbctl --context " + k.name + " status"
}

// remark returns a sentence about the context: created and current, created, or the reason why it was not created.
func (k keptContext) remark() string {
	switch {
	case k.name == "":
		return "no context was made: " + k.why
	case !k.current:
		return "made the context " + k.name + " in " + k.path + "; another one stays in use"
	}
	return "made the context " + k.name + " in " + k.path
}
