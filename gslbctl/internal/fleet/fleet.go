package fleet

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"gslb.internal/shared/api"
)

// Node is an overwatch node: a client of its API and the address of its DNS server.
type Node struct {
	*api.Client
	DNS string // host:port
}

// Fleet is the set of nodes that one command uses.
type Fleet struct {
	// Nodes returns all nodes of the cluster, without duplicates, in the order of the command line or of the context.
	Nodes func() ([]Node, error)
	// Only is the address of the single node that Clients returns; "" selects all nodes.
	Only string
	// AllNodes makes a replicated change fail if a node has not confirmed it.
	AllNodes bool
	// PeerWait is the longest time to wait after a change until all peers of the changed nodes have the change; 0 waits
	// only for connected peers of a node that replicates the change, for a short time.
	PeerWait time.Duration
	// Progress shows a text until the caller calls stop.
	Progress func(text string) (stop func())
	// Warn shows a text for an operator.
	Warn func(text string)
}

// Clients returns the clients of all nodes, or of the node that Only selects.
func (f *Fleet) Clients() ([]*api.Client, error) {
	nodes, err := f.Nodes()
	list := ClientsOf(nodes)
	if err != nil || f.Only == "" {
		return list, err
	}
	return selectNode(list, f.Only)
}

// ClientsOf returns the clients of nodes.
func ClientsOf(nodes []Node) []*api.Client {
	list := make([]*api.Client, len(nodes))
	for i, n := range nodes {
		list[i] = n.Client
	}
	return list
}

// selectNode returns the node with an address or host, as a list of length 1. It returns an error unless exactly one
// node matches.
func selectNode(list []*api.Client, text string) ([]*api.Client, error) {
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
		return nil, fmt.Errorf("--node: %q matches %d nodes: give the address of a node, such as %s", text,
			len(found), strings.Join(known, " or "))
	}
	return found, nil
}
