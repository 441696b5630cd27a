// Package doctor looks at a machine and at the configuration of an overwatch node as an experienced colleague would: not
// whether the configuration is right, which the node itself says, but whether with it the node can do its work here, and
// whether the world will ask it.
//
// It changes nothing, and a node that runs meanwhile is not disturbed. It holds no state.
package doctor

import (
	"context"
	"crypto/tls"
	"net/netip"
	"sync"
	"time"
)

// Grade is how bad a finding is.
type Grade int

// Grades, the worst last.
const (
	Fine    Grade = iota // as it should be
	Advice               // works, and would be better otherwise
	Trouble              // does not work, or will not for long
)

// String is the word for a grade.
func (g Grade) String() string {
	return [...]string{"ok", "advice", "TROUBLE"}[g]
}

// Finding is one thing that was looked at.
type Finding struct {
	Grade   Grade
	Subject string // what was looked at, in a word or two
	Text    string // what was found
	Remedy  string // what to do about it; empty when that is nothing
}

// Patient is the node that is examined.
type Patient struct {
	DataDir string
	Names   int    // steered names
	Signed  bool   // answers are signed
	Geo     string // path of the geolocation database, "" for none
	Zones   []Zone
	// DNS is where the node answers. Running tells that it does so now.
	DNS     []netip.AddrPort
	Running bool
	Peers   []string // base URLs of the other nodes' API
	// PeersTLS is how this node speaks with those over https; nil is as the machine does.
	PeersTLS func() (*tls.Config, error)
	Seeds    []string // host:port of other nodes' gossip
	// Resolver is the address of the resolver that the delegation is looked up through; "" for the first of /etc/resolv.conf.
	Resolver string
}

// Zone is a zone that the node serves, and the names of its name servers as it has them.
type Zone struct {
	Name        string
	Nameservers []string
}

// patience is how long one question to another machine may take, and bound how long the examination may.
const (
	patience = 3 * time.Second
	bound    = 30 * time.Second
)

// Examine looks at everything at once and returns what it found, in a fixed order, within some 30 s.
func Examine(ctx context.Context, p Patient) []Finding {
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	examinations := []func(context.Context, Patient) []Finding{clock, limits, buffers, memory, disk, database, peers, seeds, Answering, delegations}
	found := make([][]Finding, len(examinations))
	var all sync.WaitGroup
	for i, examine := range examinations {
		all.Go(func() { found[i] = examine(ctx, p) })
	}
	all.Wait()
	var list []Finding
	for _, f := range found {
		list = append(list, f...)
	}
	return list
}

func fine(subject, text string) []Finding { return []Finding{{Fine, subject, text, ""}} }

func advice(subject, text, remedy string) []Finding {
	return []Finding{{Advice, subject, text, remedy}}
}

func trouble(subject, text, remedy string) []Finding {
	return []Finding{{Trouble, subject, text, remedy}}
}
