package cli

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"gslb.internal/gslbctl/internal/contexts"
	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/shared/api"
)

// The environment variables of gslbctl.
const (
	environmentNodes      = "GSLB_API"         // one node or several, separated by commas
	environmentDNS        = "GSLB_DNS"         // DNS addresses of these nodes, in the same order; unused without them
	environmentContext    = "GSLB_CONTEXT"     // the context to use
	environmentFile       = "GSLB_CONFIG"      // the file of contexts
	environmentToken      = "GSLB_TOKEN"       // the rest replaces settings that the context leaves out
	environmentCA         = "GSLB_CA"          //
	environmentCert       = "GSLB_CLIENT_CERT" //
	environmentKey        = "GSLB_CLIENT_KEY"  //
	environmentServerName = "GSLB_SERVER_NAME" //
)

// contextsPath returns the path of the file of contexts.
func (a *app) contextsPath() (string, error) {
	if path := a.Getenv(environmentFile); path != "" {
		return path, nil
	}
	return contexts.DefaultPath(a.Getenv)
}

// access returns the cluster to talk to, with its credentials. It is named on the command line, in
// the environment or in the file of contexts, in this order.
func (a *app) access() (contexts.Context, error) {
	c, err := a.cluster()
	if err == nil {
		err = setDNSAddresses(&c, a.dns)
	}
	if err != nil {
		return contexts.Context{}, err
	}
	if c.Token == "" && c.TokenFile == "" {
		c.Token = a.Getenv(environmentToken)
	}
	if c.CA == "" {
		c.CA = a.Getenv(environmentCA)
	}
	if c.ClientCert == "" && c.ClientKey == "" {
		c.ClientCert, c.ClientKey = a.Getenv(environmentCert), a.Getenv(environmentKey)
	}
	if c.ServerName == "" {
		c.ServerName = a.Getenv(environmentServerName)
	}
	return c, c.Check()
}

func (a *app) cluster() (contexts.Context, error) {
	byEnvironment := words(a.Getenv(environmentNodes))
	name := a.context
	switch {
	case len(a.nodes) > 0 && name != "":
		return contexts.Context{}, errors.New("--api and --context both name nodes: give one of them")
	case len(a.nodes) > 0:
		return a.named(a.nodes, nil)
	case name != "":
	case len(byEnvironment) > 0 && a.Getenv(environmentContext) != "":
		return contexts.Context{}, fmt.Errorf("%s and %s both name nodes: set one of them", environmentNodes,
			environmentContext)
	case len(byEnvironment) > 0:
		return a.named(byEnvironment, words(a.Getenv(environmentDNS)))
	default:
		name = a.Getenv(environmentContext)
	}
	return a.storedContext(name)
}

// named returns a context of the given nodes. If all of them are nodes of the context in use, it has the credentials
// and DNS addresses of that context. Other nodes never receive these credentials.
func (a *app) named(apis, dns []string) (contexts.Context, error) {
	c, err := adHoc(apis, dns)
	inUse, failed := a.storedContext(a.Getenv(environmentContext))
	if err != nil || failed != nil { // a faulty file of contexts does not matter here
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

// storedContext returns a context of the file. Without a name it returns the current one, or else the node
// on this machine.
func (a *app) storedContext(name string) (contexts.Context, error) {
	path, err := a.contextsPath()
	if err != nil {
		if name == "" {
			return adHoc([]string{api.DefaultAddress}, nil) // without a home directory there is no file
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
		return adHoc([]string{api.DefaultAddress}, words(a.Getenv(environmentDNS)))
	}
	return f.Contexts[name], checkKnown(f, name)
}

// checkKnown returns an error if there is no context of a name.
func checkKnown(f *contexts.File, name string) error {
	known := slices.Sorted(maps.Keys(f.Contexts))
	if slices.Contains(known, name) {
		return nil
	}
	if len(known) == 0 {
		return fmt.Errorf(
			"there is no context %q, and none at all in %s: make one with gslbctl context set %[1]s --api host:port", name,
			f.Path())
	}
	meant := ""
	if near := nearest(name, known); len(near) > 0 {
		meant = "; did you mean " + near[0] + "?"
	}
	return fmt.Errorf("there is no context %q: %s has %s%s", name, f.Path(), strings.Join(known, ", "), meant)
}

func words(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' })
}

// adHoc returns a context made of API and DNS addresses, which is in no file.
func adHoc(apis, dns []string) (contexts.Context, error) {
	var c contexts.Context
	for _, text := range apis {
		c.Nodes = append(c.Nodes, contexts.Node{API: text})
	}
	return c, setDNSAddresses(&c, dns)
}

// setDNSAddresses sets the DNS addresses of the nodes, in the nodes' order. It replaces the context's list
// of nodes.
func setDNSAddresses(c *contexts.Context, addresses []string) error {
	if len(addresses) > len(c.Nodes) {
		return fmt.Errorf("%s given for %s: give at most one for each, in the same order",
			render.Count(len(addresses), "DNS address is", "DNS addresses are"), render.Count(len(c.Nodes), "node", "nodes"))
	}
	c.Nodes = slices.Clone(c.Nodes)
	for i, address := range addresses {
		c.Nodes[i].DNS = address
	}
	return nil
}

// target is one overwatch node to talk to.
type target struct {
	*api.Client
	dns string // its DNS address, host:port
}

// targets returns all nodes of the context, each once, in the order given. It ignores --node.
func (a *app) targets() ([]target, error) {
	c, err := a.access()
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
	var list []target
	for _, n := range c.Nodes {
		client, err := api.NewClient(api.ClientOptions{Node: n.API, Timeout: a.timeout,
			UserAgent: "gslbctl/" + a.Build.Version, TLS: config, Token: token})
		if err != nil {
			return nil, err
		}
		dns, err := n.DNSAddress()
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(list, func(other target) bool { return other.Node() == client.Node() }) {
			list = append(list, target{client, dns})
		}
	}
	return list, nil
}

// clients returns a client for each node of the context, or for the one that --node chooses.
func (a *app) clients() ([]*api.Client, error) {
	nodes, err := a.targets()
	if err != nil || a.node == "" {
		return clientList(nodes), err
	}
	return nodeOf(clientList(nodes), a.node)
}

func clientList(nodes []target) (list []*api.Client) {
	for _, n := range nodes {
		list = append(list, n.Client)
	}
	return list
}

// nodeOf returns, as a list of one, the node whose address or host is text. No match, or several, is an error.
func nodeOf(list []*api.Client, text string) ([]*api.Client, error) {
	base, _ := api.ParseNode(text) // "" equals no node's address
	var found []*api.Client
	var known []string
	for _, c := range list {
		known = append(known, c.Node())
		u, err := url.Parse(c.Node())
		if c.Node() == base || err == nil && (u.Host == text || u.Hostname() == strings.Trim(text, "[]")) {
			found = append(found, c)
		}
	}
	if len(found) != 1 {
		return nil, fmt.Errorf("--node %q means %d of the nodes: it must be the address of one, such as %s", text,
			len(found), strings.Join(known, " or "))
	}
	return found, nil
}
