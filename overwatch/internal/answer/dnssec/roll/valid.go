package roll

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
)

// Bounds of a Progress from another node or a file.
const (
	maxKeys = 3   // in Before and Offer
	maxKey  = 64  // octets of a public key
	maxNode = 128 // octets of a node id

	maxPeers = 1000 // in Without
	maxPeer  = 2048 // octets of a peer's name

	maxTTL = (1<<31 - 1) * time.Second // RFC 2181 section 8
)

// Valid returns an error with the name of an invalid field. now is the current time.
func (p *Progress) Valid(now time.Time) error {
	switch {
	case p.Goal != ToKey && p.Goal != ToUnsigned && p.Goal != ToSigned:
		return errors.New("way is unknown")
	case p.Stage < Signing || p.Stage > Done:
		return fmt.Errorf("stage %d; 1 to %d are known", p.Stage, Done)
	case p.Goal != ToKey && p.Stage < p.firstStage() || p.Goal == ToSigned && p.Stage == Alone:
		return fmt.Errorf("stage %s; a transition to %s has no such stage", p.Stage, p.Goal)
	case p.Goal != ToKey && len(p.Target) > 0:
		return errors.New("target is a key, and none is to change")
	case p.DS < 0 || p.DS > maxTTL:
		return fmt.Errorf("ds_ttl is %s; 0 to %s are possible", p.DS, maxTTL)
	case !p.Longest.valid():
		return fmt.Errorf("longest_ttls: a TTL is out of range (0 to %s)", maxTTL)
	case p.Goal == ToKey && len(p.Target) == 0 || len(p.Target) > maxKey:
		return errors.New("target is no public key")
	case p.Started.After(now.Add(ClocksApart)):
		return fmt.Errorf("started at %s, which is in the future: compare the clocks of the nodes",
			p.Started.UTC().Format(time.RFC3339))
	case len(p.Before) > maxKeys || len(p.Offer) > maxKeys:
		return fmt.Errorf("before: more than %d keys", maxKeys)
	case len(p.By) > maxNode || strings.ContainsFunc(p.By, func(r rune) bool { return !unicode.IsPrint(r) }):
		return errors.New("by is no node id")
	}
	if len(p.Without) > maxPeers || slices.ContainsFunc(p.Without, func(name string) bool { return len(name) > maxPeer }) {
		return errors.New("without is no list of peers")
	}
	for _, keys := range [][][]byte{p.Before, p.Offer} {
		for _, k := range keys {
			if len(k) > maxKey {
				return errors.New("before: a key exceeds the maximum size")
			}
		}
	}
	return nil
}
