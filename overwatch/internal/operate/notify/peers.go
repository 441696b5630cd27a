package notify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"time"

	"gslb.internal/overwatch/internal/cluster/peerauth"
	"gslb.internal/overwatch/internal/cluster/replication"
	"gslb.internal/shared/api"
)

const (
	// Path is the path of this exchange in the API, relative to a node's base URL.
	Path = "/api/v1/notifications/told"
	// askTimeout is the timeout of requests to peers. A peer without an answer is treated as down.
	askTimeout = 5 * time.Second
	// maxAnswer bounds a peer's answer, in octets.
	maxAnswer = 8 << 20
)

// Peer is another node. It may detect the same events and send messages about them.
type Peer = replication.Reachable

// answered is the format of a Telling between nodes. It contains an age instead of a time, because clocks differ.
type answered struct {
	Telling
	Age time.Duration `json:"age"`
}

// errNoSecret is the error of a node without a secret for peer authentication.
var errNoSecret = errors.New("overwatch.dnssec.key_sync.secret is not set on this node")

// Challenge returns the value of WWW-Authenticate for a peer.
func (n *Notifier) Challenge() string { return n.server.Challenge() }

// Answer returns this node's tellings about a group and a target, encrypted for a peer that its Authorization
// authenticates. where is the path with the query of the request. The response may contain the error.
func (n *Notifier) Answer(where, target, group, authorization string) (sealed string, err error) {
	settings, _ := n.current()
	if len(settings.Secret) == 0 {
		return "", errNoSecret
	}
	client, err := n.server.Authenticate([][]byte{settings.Secret}, where, authorization)
	if err != nil {
		return "", err
	}
	list := map[string]answered{}
	for key, telling := range n.Told(target, group) {
		list[key] = answered{telling, time.Since(telling.At)}
	}
	plain, err := json.Marshal(list)
	if err != nil {
		return "", err
	}
	return client.Seal(plain)
}

// Told returns this node's tellings about a group and a target, by key.
func (n *Notifier) Told(target, group string) map[string]Telling {
	all := tellings{}
	_, targets := n.current()
	for _, t := range targets {
		if t.c.Name == target {
			t.mu.Lock()
			all.addNewer(group, t.Told[group])
			t.mu.Unlock()
		}
	}
	return all[group]
}

// ask requests a peer's tellings about a group and a target over the network.
func (n *Notifier) ask(ctx context.Context, peer Peer, target, group string) (map[string]Telling, error) {
	settings, _ := n.current()
	if len(settings.Secret) == 0 {
		return nil, errNoSecret
	}
	transport, err := peerauth.NewTransport(settings.TLS)
	if err != nil {
		return nil, err
	}
	defer transport.CloseIdleConnections()
	client := peerauth.Client{Node: n.o.Node, Peer: peer.URL, Secret: settings.Secret, MaxBody: maxAnswer,
		HTTP: peerauth.NewHTTPClient(transport), UserAgent: "gslb-overwatch/notifications"}
	plain, err := client.Get(ctx, Path+"?"+url.Values{"target": {target}, "group": {group}}.Encode())
	if err != nil {
		return nil, err
	}
	return parseTold(plain, time.Now())
}

// Bounds of the tellings of a peer.
const (
	maxTells    = 5000 // of a group
	maxTellText = 300  // octets of each text
)

// parseTold parses the tellings of a peer. It omits invalid tellings.
func parseTold(plain []byte, now time.Time) (map[string]Telling, error) {
	var list map[string]answered
	if err := json.Unmarshal(plain, &list); err != nil {
		return nil, fmt.Errorf("its answer cannot be read: %w", err)
	}
	if len(list) > maxTells {
		return nil, fmt.Errorf("its answer has %d entries: at most %d are allowed", len(list), maxTells)
	}
	phases := []api.Phase{api.PhaseBegins, api.PhaseEnds, api.PhaseOnce}
	tells := make(map[string]Telling, len(list))
	for key, a := range list {
		longest := max(len(key), len(a.State), len(a.Severity), len(a.ID), len(a.Node))
		if longest > maxTellText || !slices.Contains(phases, a.Phase) {
			continue
		}
		a.At = now.Add(-max(0, a.Age))
		tells[key] = a.Telling
	}
	return tells, nil
}
