package doctor

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"
)

// maxSkew is the clock difference between two nodes above which a node may consider the signatures of the other node
// invalid.
const maxSkew = 5 * time.Minute

// peers calls the API of each peer, and compares the clocks by the Date header of the responses.
func peers(ctx context.Context, p Node) (found []Finding) {
	transport := &http.Transport{}
	if p.PeersTLS != nil {
		var err error
		if transport.TLSClientConfig, err = p.PeersTLS(); err != nil {
			return trouble("peer", err.Error(), "correct the file or the path")
		}
	}
	client := &http.Client{Timeout: patience, Transport: transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	defer client.CloseIdleConnections()
	for _, peer := range p.Peers {
		url := strings.TrimRight(peer, "/") + "/api/v1/version"
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			found = append(found, trouble("peer", fmt.Sprintf("%s: %v", peer, err),
				"correct overwatch.dnssec.key_sync.peers")...)
			continue
		}
		response, err := client.Do(request)
		if err != nil {
			found = append(found, trouble("peer", fmt.Sprintf("%s does not answer: %v", peer, err),
				"start it, open its API's port for this node, or correct overwatch.dnssec.key_sync.peers")...)
			continue
		}
		_ = response.Body.Close()
		found = append(found, peerFinding(peer, response, time.Now())...)
	}
	return found
}

// peerFinding returns the finding for a peer's response that arrived at now.
func peerFinding(peer string, response *http.Response, now time.Time) []Finding {
	if response.StatusCode == http.StatusForbidden {
		return trouble("peer", peer+" refuses this node", "put this node's address into its api.allowed_networks")
	}
	date, err := http.ParseTime(response.Header.Get("Date"))
	if err != nil {
		return fine("peer", peer+" answers")
	}
	// The header has whole seconds.
	if skew := now.Sub(date).Abs(); skew > maxSkew {
		return trouble("peer", fmt.Sprintf("the clocks of %s and this machine differ by %s", peer, skew.Round(time.Second)),
			"keep both right with chrony or systemd-timesyncd")
	}
	return fine("peer", peer+" answers, and has the same time")
}

// seeds checks whether the gossip listeners of other nodes are reachable.
func seeds(ctx context.Context, p Node) (found []Finding) {
	dialer := net.Dialer{Timeout: patience}
	for _, seed := range p.Seeds {
		conn, err := dialer.DialContext(ctx, "tcp", seed)
		if err != nil {
			found = append(found, advice("gossip seed", fmt.Sprintf("%s: %v", seed, err),
				"start that node, or open its port 7946, TCP and UDP")...)
			continue
		}
		_ = conn.Close()
		found = append(found, fine("gossip seed", seed+" can be reached")...)
	}
	return found
}
