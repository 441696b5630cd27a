package replication_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gslb.internal/overwatch/internal/cluster/peerauth"
	"gslb.internal/overwatch/internal/state/replica"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
)

// hostile is a peer that knows the secret and answers each request with a forged message.
type hostile struct {
	server  *peerauth.Server
	message func(asked uint64) any // asked counts the requests
	asked   atomic.Uint64
}

func newHostile(message func(asked uint64) any) *hostile {
	return &hostile{server: peerauth.NewServer(), message: message}
}

// RoundTrip implements http.RoundTripper.
func (h *hostile) RoundTrip(r *http.Request) (*http.Response, error) {
	resp := &http.Response{StatusCode: http.StatusOK, Header: http.Header{
		"Content-Type": {"application/json"}, "Www-Authenticate": {h.server.Challenge()}}}
	var body api.ReplicationObjects
	if proof := r.Header.Get("Authorization"); proof != "" {
		s := settings(secret)
		client, err := h.server.Authenticate([][]byte{s.Secret}, r.URL.RequestURI(), proof)
		if err != nil {
			return nil, err
		}
		plain, err := json.Marshal(h.message(h.asked.Add(1)))
		if err != nil {
			return nil, err
		}
		if body.Sealed, err = client.Seal(plain); err != nil {
			return nil, err
		}
	}
	text, err := json.Marshal(body)
	resp.Body = io.NopCloser(bytes.NewReader(text))
	return resp, err
}

// sent is a message in the form that peers use.
type sent struct {
	Instance string        `json:"instance"`
	Time     time.Time     `json:"time"`
	Digest   string        `json:"digest"`
	Has      bool          `json:"has"`
	Offer    replica.Offer `json:"offer"`
}

func sentDomain(name string, ttl int) replica.Object {
	return replica.Object{Key: domain(name), Version: replica.Version{Time: time.Now().UnixMilli(), Node: "h"},
		Value: fmt.Appendf(nil, `{"name":%q,"ttl":%d}`, name, ttl)}
}

// facing starts a node whose only peer is hostile.
func facing(t *testing.T, h *hostile) *node {
	t.Helper()
	s := settings(secret)
	s.Peers = []string{"http://h"}
	w := &network{nodes: make(map[string]*node)}
	return startOn(t, w, t.TempDir(), h, store.Options{NodeID: "a", CheckObject: func(o *replica.Object) error {
		if strings.Contains(string(o.Value), `"ttl":-5`) {
			return fmt.Errorf("ttl is -5")
		}
		return nil
	}}, s)
}

// A node does not collect an unlimited number of pages, and the status contains the fault of the peer.
func TestReplication_APeerThatSendsPagesWithoutEndIsGivenUp(t *testing.T) {
	for name, object := range map[string]bool{"empty": false, "small": true} {
		t.Run(name, func(t *testing.T) {
			n := facing(t, newHostile(func(asked uint64) any {
				offer := replica.Offer{Node: "h", Changes: asked, More: true, Objects: []replica.Object{}}
				if object {
					offer.Objects = append(offer.Objects, sentDomain(fmt.Sprint("d", asked, ".example"), 1))
				}
				return sent{Instance: "one", Time: time.Now(), Offer: offer}
			}))
			until(t, "the exchange to be given up", func() bool {
				for _, p := range n.r.Status().Peers {
					return p.Error != nil && strings.Contains(*p.Error, "pages") && n.store.Replicas().Objects == 0
				}
				return false
			})
		})
	}
}

// A peer that returns new objects in every answer causes a limited number of exchanges.
func TestReplication_APeerThatAnswersAtOnceIsAskedAtABoundedRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHostile(func(asked uint64) any {
			return sent{Instance: "one", Time: time.Now(), Offer: replica.Offer{Node: "h", Changes: asked,
				Objects: []replica.Object{sentDomain("app.example", int(asked))}}}
		})
		n := facing(t, h)
		const while = time.Minute
		<-time.After(while)
		if asked := h.asked.Load(); asked < 300 || asked > 700 {
			t.Errorf("%d exchanges in %s", asked, while)
		}
		n.stop()
	})
}

// The node rejects only the invalid object, and the status contains the object, its peer and the reason.
func TestReplication_AWrongObjectIsRejectedAlone(t *testing.T) {
	n := facing(t, newHostile(func(asked uint64) any {
		offer := replica.Offer{Node: "h", Changes: 1, Synced: time.Now(), Objects: []replica.Object{}}
		if asked == 1 {
			offer.Whole = true
			offer.Objects = []replica.Object{sentDomain("", 1), sentDomain("wrong.example", -5),
				sentDomain("right.example", 7), {Key: replica.Key{Kind: "tunnel", Name: "t"},
					Version: replica.Version{Time: 1, Node: "h"}, Value: json.RawMessage(`{"key":"s3cret"}`)}}
		}
		return sent{Instance: "one", Time: time.Now(), Offer: offer}
	}))
	until(t, "the objects to come", func() bool {
		n.mu.Lock()
		defer n.mu.Unlock()
		return n.followed[domain("right.example")] > 0
	})
	until(t, "the peer to be named", func() bool { return n.r.Status().Peers[0].NodeID == "h" })
	status := n.r.Status()
	if status.Peers[0].Rejected != 3 || len(status.Refused) != 3 {
		t.Fatalf("status: %+v", status)
	}
	for _, one := range status.Refused {
		if one.Node != "h" || one.Peer != "h" || !strings.Contains(one.Reason, "ttl is -5") &&
			!strings.Contains(one.Reason, "its name is") && one.Kind != "tunnel" {
			t.Errorf("refused: %+v", one)
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.followed[domain("right.example")] != 1 || n.followed[domain("wrong.example")] != 0 {
		t.Errorf("put into force: %v", n.followed)
	}
	for _, c := range n.audited {
		if text, err := json.Marshal(c.After); err != nil || strings.Contains(string(text), "s3cret") {
			t.Errorf("the audit entry of an object that may have secrets has %s, %v", text, err)
		}
	}
	if len(n.audited) != 3 {
		t.Errorf("audit entries: %+v", n.audited)
	}
}

// Each change of a peer has an audit entry with its origin, up to a limit. A peer that claims the id of this node
// cannot use up the limit of other changes.
func TestReplication_ChangesOfAPeerAreAuditedWithinABound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const each, exchanges = 40, 200
		n := facing(t, newHostile(func(asked uint64) any {
			offer := replica.Offer{Node: "h", Changes: asked, Synced: time.Now(), Objects: []replica.Object{}}
			for i := range each {
				o := sentDomain(fmt.Sprint("d", i, ".example"), int(asked))
				if o.Version.Node = "a"; asked == 1 {
					o.Version.Node = "origin"
				}
				if asked <= exchanges {
					offer.Objects = append(offer.Objects, o)
				}
			}
			return sent{Instance: "one", Time: time.Now(), Offer: offer}
		}))
		<-time.After(3 * time.Minute)
		n.mu.Lock()
		counts := map[string]int{}
		for i, c := range n.audited {
			counts[c.Action]++
			if i < each && (c.Action != api.AuditReceive || c.Actor != "origin" || c.Peer != "h" || c.After == nil) {
				t.Errorf("entry %d: %+v", i, c)
			}
		}
		last := n.audited[len(n.audited)-1]
		n.mu.Unlock()
		if received := counts[api.AuditReceive]; received < 1000 || received > 1010 {
			t.Errorf("%d entries of %d changes", received, each*exchanges)
		}
		if overtaken := counts[api.AuditSync]; overtaken < 900 || overtaken > 1001 {
			t.Errorf("%d entries of changes that no longer stand", overtaken)
		}
		if last.Action != api.AuditReceive || last.Err == nil || !strings.Contains(last.Err.Error(), "further changes") {
			t.Errorf("the last entry is %+v", last)
		}
		n.stop()
	})
}

// A large exchange is stored in several transactions, so that the API does not wait for the whole exchange.
func TestReplication_ALargeExchangeIsStoredInParts(t *testing.T) {
	const count = 12_000
	n := facing(t, newHostile(func(asked uint64) any {
		offer := replica.Offer{Node: "h", Changes: asked, Synced: time.Now(), Objects: []replica.Object{}, Whole: asked == 1}
		for i := range count {
			if asked == 2 {
				offer.Objects = append(offer.Objects, sentDomain(fmt.Sprint("d", i, ".example"), 1))
			}
		}
		return sent{Instance: "one", Time: time.Now(), Offer: offer}
	}))
	changes := map[int]bool{}
	until(t, "all objects", func() bool {
		objects := n.store.Replicas().Objects
		changes[objects] = true
		return objects == count
	})
	if len(changes) < 3 {
		t.Errorf("the numbers of objects were %v", changes)
	}
	until(t, "all objects to be in force", func() bool {
		n.mu.Lock()
		defer n.mu.Unlock()
		return len(n.followed) == count
	})
}
