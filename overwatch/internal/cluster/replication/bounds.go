package replication

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"gslb.internal/overwatch/internal/state/replica"
	"gslb.internal/shared/tokenbucket"
)

// Bounds of the data from a peer. Any host with key_sync.secret can be a peer.
const (
	// maxPages, maxObjects and maxExchange are the maximum numbers of pages, objects and octets of an exchange.
	maxPages    = 1024
	maxObjects  = replica.MaxObjects + replica.MaxTombstones
	maxExchange = 128 << 20
	// maxPageObjects is the maximum number of objects of a page. A node adds 256 octets per object to the size of its
	// value.
	maxPageObjects = pageSize/256 + 1
	// maxInstance is the maximum length of the id of a process in octets.
	maxInstance = 64
	// exchangeEvery is the mean time between two exchanges with a peer. exchangeBurst is the maximum burst.
	exchangeEvery = 100 * time.Millisecond
	exchangeBurst = 50
	// octetsPerSecond is the mean data rate from a peer. The maximum burst is maxExchange.
	octetsPerSecond = 4 << 20
	// maxPollers bounds the node ids that ask this node.
	maxPollers = 256
	// partSize is the number of objects per merge transaction, so that other writers wait only a short time.
	partSize = 5000
	// maxRejections is the maximum number of reported objects of a peer that this node did not store.
	maxRejections = 20
)

// exchangeLimit limits the rate of exchanges with a peer. It belongs to one goroutine.
type exchangeLimit struct{ exchanges, octets tokenbucket.Bucket }

func newExchangeLimit() exchangeLimit {
	return exchangeLimit{
		exchanges: tokenbucket.New(tokenbucket.Limit{Interval: exchangeEvery, Burst: exchangeBurst}),
		octets:    tokenbucket.New(tokenbucket.PerSecond(octetsPerSecond, maxExchange)),
	}
}

// countExchange counts an exchange and its octets. It returns the time to wait before the next exchange.
func (l *exchangeLimit) countExchange(now time.Time, octets int) time.Duration {
	l.exchanges.Spend(now, 1)
	l.octets.Spend(now, octets)
	return max(l.exchanges.Debt(now), l.octets.Debt(now))
}

// errNoAdvance means that a peer announces more pages without an end.
var errNoAdvance = errors.New("it announces more pages and sends none: the exchange is rejected")

// errPageObjects means that a page contains more objects than a node sends.
var errPageObjects = fmt.Errorf("it sends more than %d objects in a page: the exchange is rejected", maxPageObjects)

// objects are the objects of a page.
type objects []replica.Object

// UnmarshalJSON returns errPageObjects for more than maxPageObjects objects, without reading the rest.
func (o *objects) UnmarshalJSON(text []byte) error {
	more, err := readList(text, func(d *json.Decoder) (bool, error) {
		var one replica.Object
		err := d.Decode(&one)
		*o = append(*o, one)
		return len(*o) < maxPageObjects, err
	})
	if err == nil && more {
		err = errPageObjects
	}
	return err
}

// readList calls next for each element of a JSON list until next returns false or an error. more reports whether unread
// elements remain. null is an empty list.
func readList(text []byte, next func(*json.Decoder) (bool, error)) (more bool, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	begin, err := d.Token()
	if begin != json.Delim('[') {
		return false, err
	}
	for goes := true; goes && d.More(); {
		if goes, err = next(d); err != nil {
			return false, err
		}
	}
	return d.More(), nil
}

// gathered counts the pages, objects and octets of an exchange.
type gathered struct{ pages, objects, octets int }

// add adds a page. It returns an error if the exchange exceeds a bound, or does not advance.
func (g *gathered) add(m *message, since uint64) error {
	g.pages, g.objects, g.octets = g.pages+1, g.objects+len(m.Offer.Objects), g.octets+m.size
	switch {
	case g.pages > maxPages:
		return fmt.Errorf("it sends more than %d pages in an exchange: the exchange is rejected", maxPages)
	case g.objects > maxObjects:
		return fmt.Errorf("it sends more than %d objects in an exchange: the exchange is rejected", maxObjects)
	case g.octets > maxExchange:
		return fmt.Errorf("it sends more than %d octets in an exchange: the exchange is rejected", maxExchange)
	case m.Offer.More && (len(m.Offer.Objects) == 0 || m.Offer.Changes <= since):
		return errNoAdvance
	}
	return nil
}

// rejection is an object of a peer without effect on this node.
type rejection struct {
	url, node string // of the peer
	replica.Rejection
}

// noteRejected records the objects of a peer without effect on this node. Of the objects that this node did not store,
// it reports at most maxRejections. It logs an object if the object or its reason is new. whole is true if the peer has
// sent all of its objects.
func (r *Replication) noteRejected(p *peer, node string, whole bool, m *replica.Merged) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range m.Taken { // a later version of the object may be valid
		delete(r.rejected, m.Taken[i].Key)
	}
	known := maps.Clone(r.rejected)
	unstored := 0
	for key, one := range r.rejected {
		switch {
		case one.Stored || one.url != p.url:
		case whole:
			delete(r.rejected, key)
		default:
			unstored++
		}
	}
	p.rejected += len(m.Rejected)
	for _, one := range m.Rejected {
		if !one.Stored {
			if unstored++; unstored > maxRejections {
				continue
			}
		}
		key := one.Object.Key
		if before, is := known[key]; !is || before.Reason.Error() != one.Reason.Error() {
			r.o.Logger.Warn().Str("peer", node).Str("kind", clipped(key.Kind)).Str("name", clipped(key.Name)).
				Str("reason", one.Reason.Error()).Bool("stored", one.Stored).
				Msg("an object of another node was rejected: it has no effect here")
		}
		one.Object.Value = nil
		r.rejected[key] = rejection{p.url, node, one}
	}
}

// rejectedNow lists the objects of peers without effect on this node. held contains the rejected objects of the store,
// including objects of earlier processes. The caller holds mu.
func (r *Replication) rejectedNow(held []replica.Rejection) (list []rejection) {
	for _, one := range held {
		known := r.rejected[one.Object.Key]
		list = append(list, rejection{known.url, known.node, one})
	}
	for _, one := range r.rejected {
		if !one.Stored {
			list = append(list, one)
		}
	}
	return list
}

// clipped returns a truncated text of a peer, for a log or an answer.
func clipped(text string) string {
	const most = 320 // a server name consists of a domain and an address
	return strings.ToValidUTF8(text[:min(len(text), most)], "?")
}

// mergeInParts merges an offer. It uses several transactions for a large offer that can be validated in parts. After an
// error it returns the outcome of the previous transactions.
func (r *Replication) mergeInParts(p *peer, offer replica.Offer) (all replica.Merged, err error) {
	entries := r.entriesOf(p, offer.Node)
	if len(offer.Objects) <= partSize || r.o.Store.Replicas().Joining {
		return r.o.Store.Merge(offer, entries)
	}
	part := offer
	part.Whole = false
	for at := 0; at < len(offer.Objects); at += partSize {
		part.Objects = offer.Objects[at:min(at+partSize, len(offer.Objects))]
		m, err := r.o.Store.Merge(part, entries)
		if err != nil {
			return all, err
		}
		all.Taken, all.Lost, all.Dropped = append(all.Taken, m.Taken...), append(all.Lost, m.Lost...),
			append(all.Dropped, m.Dropped...)
		all.Refused, all.Rejected = append(all.Refused, m.Refused...), append(all.Rejected, m.Rejected...)
		all.Postponed = append(all.Postponed, m.Postponed...)
	}
	if offer.Whole && !offer.Joining && len(all.Refused)+len(all.Postponed) == 0 {
		err = r.o.Store.MetReplicas()
	}
	return all, err
}
