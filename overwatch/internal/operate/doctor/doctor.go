// Package doctor implements the commands that examine a node from outside its process: `doctor` examines the machine,
// the data directory and the network, `validate` the configuration with its files, `status` the answers of a running
// node. The root calls Run, Validate, Cautions and Status.
//
// It changes nothing, does not disturb a running node, and holds no state.
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

// Grades, the worst last.
const (
	Fine    Grade = iota // as it should be
	Advice               // works, and would be better otherwise
	Trouble              // does not work, or will not for long
)

// String returns the grade in one word.
func (g Grade) String() string {
	return [...]string{"ok", "advice", "TROUBLE"}[g]
}

// Finding is the result of one check.
type Finding struct {
	Grade   Grade
	Subject string // what was looked at, in a word or two
	Text    string // what was found
	Remedy  string // what to do about it; empty when that is nothing
}

// Node describes the node that is examined.
type Node struct {
	DataDir string
	Names   int    // steered names
	Signed  bool   // answers are signed
	Geo     string // path of the geolocation database, "" for none
	Zones   []Zone
	// DNS lists the addresses that the node answers at. Running is true while it does.
	DNS     []netip.AddrPort
	Running bool
	Peers   []string // base URLs of the other nodes' API
	// PeersTLS returns the TLS settings for peers over https; nil stands for those of the machine.
	PeersTLS func() (*tls.Config, error)
	Seeds    []string // host:port of other nodes' gossip
	// Resolver is the resolver that looks the delegation up; "" stands for the first of /etc/resolv.conf.
	Resolver string
}

// Zone is a zone that the node serves, with its NS names as the node has them.
type Zone struct {
	Name        string
	Nameservers []string
}

const (
	// patience bounds one question to another machine, and bound the whole examination.
	patience = 3 * time.Second
	bound    = 30 * time.Second
)

// Examine makes all checks at once, within some 30 s, and returns the findings in a fixed order.
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
