// Package doctor implements the commands that examine a node from outside its process: `doctor` examines the machine,
// the data directory and the network, `validate` the configuration with its files, `status` the answers of a running
// node. The root calls Run, Validate, Cautions and Status.
//
// The package changes nothing, does not disturb a running node, and has no state.
package doctor

import (
	"context"
	"crypto/tls"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// Grade is the severity of a finding.
type Grade int

// Grades, from best to worst.
const (
	Fine    Grade = iota // no problem
	Advice               // works, with possible improvements
	Trouble              // fails now, or will fail soon
)

// String returns the grade in one word.
func (g Grade) String() string {
	return [...]string{"ok", "advice", "TROUBLE"}[g]
}

// Finding is the result of a check.
type Finding struct {
	Grade   Grade
	Subject string // checked object, in one or two words
	Text    string // the result
	Remedy  string // recommended action; empty if none
}

// Node describes the examined node.
type Node struct {
	DataDir string
	Names   int    // number of load-balanced names
	Signed  bool   // answers are signed
	Geo     string // path of the geolocation database; empty: no database
	Zones   []Zone
	// DNS lists the DNS listeners. Running reports whether the node is running.
	DNS     []netip.AddrPort
	Running bool
	Peers   []string // base URLs of the peers' API
	// PeersTLS returns the TLS settings for peers over https; nil: the settings of the machine.
	PeersTLS func() (*tls.Config, error)
	Seeds    []string // host:port of the gossip listeners of other nodes
	// Resolver is the resolver for the delegation; empty: the first resolver in /etc/resolv.conf.
	Resolver string
}

// Zone is a zone of the node, with the NS names of its configuration.
type Zone struct {
	Name        string
	Nameservers []string
}

const (
	// patience is the timeout of a query to another machine, and bound the timeout of the whole examination.
	patience = 3 * time.Second
	bound    = 30 * time.Second
)

// Examine runs all checks concurrently, within about 30 s, and returns the findings in a fixed order.
func Examine(ctx context.Context, p Node) []Finding {
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	examinations := []func(context.Context, Node) []Finding{clock, limits, buffers, memory, disk, database, peers, seeds,
		CheckAnswers, delegations}
	found := make([][]Finding, len(examinations))
	var all sync.WaitGroup
	for i, examine := range examinations {
		all.Go(func() { found[i] = examine(ctx, p) })
	}
	all.Wait()
	return slices.Concat(found...)
}

func fine(subject, text string) []Finding { return []Finding{{Fine, subject, text, ""}} }

func advice(subject, text, remedy string) []Finding {
	return []Finding{{Advice, subject, text, remedy}}
}

func trouble(subject, text, remedy string) []Finding {
	return []Finding{{Trouble, subject, text, remedy}}
}
