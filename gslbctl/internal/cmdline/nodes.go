package cmdline

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/contexts"
	"gslb.internal/gslbctl/internal/fleet"
	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/shared/api"
)

// ContextsPath returns the path of the file of contexts.
func (a *App) ContextsPath() (string, error) {
	if path := a.Getenv(fleet.EnvFile); path != "" {
		return path, nil
	}
	return contexts.DefaultPath(a.Getenv)
}

// Cluster returns the nodes of the command with their credentials. The nodes are from the command line, or else from
// the environment, or else from the contexts file.
func (a *App) Cluster() (contexts.Context, error) {
	c, err := a.selectContext()
	if err == nil {
		err = SetDNSAddresses(&c, a.DNS)
	}
	if err != nil {
		return contexts.Context{}, err
	}
	if c.Token == "" && c.TokenFile == "" {
		c.Token = a.Getenv(fleet.EnvToken)
	}
	if c.CA == "" {
		c.CA = a.Getenv(fleet.EnvCA)
	}
	if c.ClientCert == "" && c.ClientKey == "" {
		c.ClientCert, c.ClientKey = a.Getenv(fleet.EnvCert), a.Getenv(fleet.EnvKey)
	}
	if c.ServerName == "" {
		c.ServerName = a.Getenv(fleet.EnvServerName)
	}
	return c, c.Check()
}

// ClusterName returns the selected cluster for a question or a title: its context, or else the addresses of its nodes.
func (a *App) ClusterName() string {
	name := a.Context
	if name == "" && len(a.API) == 0 && len(words(a.Getenv(fleet.EnvNodes))) == 0 {
		name = a.Getenv(fleet.EnvContext)
		if f, err := a.LoadContexts(); name == "" && err == nil {
			name = f.Current
		}
	}
	if name != "" {
		return "context " + name
	}
	nodes, err := a.Nodes()
	if err != nil {
		return "unknown cluster" // the command itself reports the error
	}
	var addresses []string
	for _, n := range nodes[:min(len(nodes), maxNamed)] {
		addresses = append(addresses, n.Node())
	}
	text := fleet.Plural(len(nodes), "node ", "nodes ") + strings.Join(addresses, ", ")
	if more := len(nodes) - maxNamed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// maxNamed bounds the addresses in the name of a cluster without a context.
const maxNamed = 3

func (a *App) selectContext() (contexts.Context, error) {
	byEnvironment := words(a.Getenv(fleet.EnvNodes))
	name := a.Context
	switch {
	case len(a.API) > 0 && name != "":
		return contexts.Context{}, errors.New("--api and --context both name nodes: give one of them")
	case len(a.API) > 0:
		return a.named(a.API, nil)
	case name != "":
	case len(byEnvironment) > 0 && a.Getenv(fleet.EnvContext) != "":
		return contexts.Context{}, fmt.Errorf("%s and %s both name nodes: set one of them", fleet.EnvNodes,
			fleet.EnvContext)
	case len(byEnvironment) > 0:
		return a.named(byEnvironment, words(a.Getenv(fleet.EnvDNS)))
	default:
		name = a.Getenv(fleet.EnvContext)
	}
	return a.storedContext(name)
}

// named returns a context for the given nodes. If all nodes belong to the current context, the result has its
// credentials and DNS addresses. Other nodes never receive these credentials.
func (a *App) named(apis, dns []string) (contexts.Context, error) {
	c, err := adHoc(apis, dns)
	inUse, failed := a.storedContext(a.Getenv(fleet.EnvContext))
	if err != nil || failed != nil { // an invalid contexts file is not an error here
		return c, err
	}
	for i, n := range c.Nodes {
		base, err := api.ParseNode(n.API)
		at := slices.IndexFunc(inUse.Nodes, func(known contexts.Node) bool {
			other, failed := api.ParseNode(known.API)
			return err == nil && failed == nil && other == base
		})
		if at < 0 {
			return c, nil
		}
		c.Nodes[i].DNS = cmp.Or(n.DNS, inUse.Nodes[at].DNS)
	}
	inUse.Nodes = c.Nodes
	return inUse, nil
}

// storedContext returns a context of the contexts file. Without a name it returns the current context, or else the node
// on this machine.
func (a *App) storedContext(name string) (contexts.Context, error) {
	path, err := a.ContextsPath()
	if err != nil {
		if name == "" {
			return adHoc([]string{api.DefaultAddress}, nil) // without a home directory there is no contexts file
		}
		return contexts.Context{}, err
	}
	f, err := contexts.Load(path)
	if err != nil {
		return contexts.Context{}, err
	}
	if name == "" {
		name = f.Current
	}
	if name == "" {
		return adHoc([]string{api.DefaultAddress}, words(a.Getenv(fleet.EnvDNS)))
	}
	return f.Contexts[name], CheckContext(f, name)
}

// CheckContext returns an error if no context has the name.
func CheckContext(f *contexts.File, name string) error {
	known := slices.Sorted(maps.Keys(f.Contexts))
	if slices.Contains(known, name) {
		return nil
	}
	if len(known) == 0 {
		return fmt.Errorf(
			"there is no context %q, and none at all in %s: make one with gslbctl context set %[1]s --api host:port",
			name,
			f.Path())
	}
	meant := ""
	if near := Nearest(name, known); len(near) > 0 {
		meant = "; did you mean " + near[0] + "?"
	}
	return fmt.Errorf("there is no context %q: %s has %s%s", name, f.Path(), strings.Join(known, ", "), meant)
}

func words(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' })
}

// adHoc returns a context with the given API and DNS addresses. The contexts file does not contain it.
func adHoc(apis, dns []string) (contexts.Context, error) {
	var c contexts.Context
	for _, text := range apis {
		c.Nodes = append(c.Nodes, contexts.Node{API: text})
	}
	return c, SetDNSAddresses(&c, dns)
}

// SetDNSAddresses sets the DNS addresses of the nodes, in the order of the nodes. It does not modify the original list
// of nodes.
func SetDNSAddresses(c *contexts.Context, addresses []string) error {
	if len(addresses) > len(c.Nodes) {
		return fmt.Errorf("%s given for %s: give at most one for each, in the same order",
			render.Count(len(addresses), "DNS address is", "DNS addresses are"), render.Count(len(c.Nodes), "node",
				"nodes"))
	}
	c.Nodes = slices.Clone(c.Nodes)
	for i, address := range addresses {
		c.Nodes[i].DNS = address
	}
	return nil
}

// resolveNodes returns all nodes of the context, without duplicates, in their order. It ignores --node.
func (a *App) resolveNodes() ([]fleet.Node, error) {
	c, err := a.Cluster()
	if err != nil {
		return nil, err
	}
	config, err := c.TLSConfig()
	if err != nil {
		return nil, err
	}
	token, err := c.Secret()
	if err != nil {
		return nil, err
	}
	var list []fleet.Node
	for _, n := range c.Nodes {
		client, err := api.NewClient(api.ClientOptions{Node: n.API, Timeout: a.Timeout,
			UserAgent: "gslbctl/" + a.Build.Version, TLS: config, Token: token})
		if err != nil {
			return nil, err
		}
		dns, err := n.DNSAddress()
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(list, func(other fleet.Node) bool { return other.Node() == client.Node() }) {
			list = append(list, fleet.Node{Client: client, DNS: dns})
		}
	}
	return list, nil
}

func (a *App) LoadContexts() (*contexts.File, error) {
	path, err := a.ContextsPath()
	if err != nil {
		return nil, err
	}
	return contexts.Load(path)
}

// CompleteContext completes the names of contexts.
func (a *App) CompleteContext(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	f, err := a.LoadContexts()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return slices.Sorted(maps.Keys(f.Contexts)), cobra.ShellCompDirectiveNoFileComp
}
