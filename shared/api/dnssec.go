package api

import (
	"context"
	"net/http"
	"net/url"
	"time"
)

// KeySyncScheme is the scheme of WWW-Authenticate and Authorization (RFC 9110 section 11) with
// which another node authenticates to GET /api/v1/dnssec/keys.
const KeySyncScheme = "Gslb-Key-Sync"

// KeyState is the use of a signing key.
type KeyState string

// The states of a signing key.
const (
	KeyPublished KeyState = "published" // in the zone, not signing yet
	KeyActive    KeyState = "active"    // signing
	KeyRetired   KeyState = "retired"   // still in the zone, no longer signing
)

// KeyStage is the role of a signing key in the key rollover of its zone.
type KeyStage string

// The stages of a signing key. A rollover makes an active key incoming or retiring; the other stages equal the states.
const (
	StageIncoming  KeyStage = "incoming"  // the new key, until the parent is known to have only its DS record
	StageActive    KeyStage = "active"    // signing, and no rollover removes it yet
	StageRetiring  KeyStage = "retiring"  // signing, until the new key with a DS record in the parent replaces it
	StagePublished KeyStage = "published" // as KeyPublished
	StageRetired   KeyStage = "retired"   // as KeyRetired
)

// DNSSECStatus is the answer of GET /api/v1/dnssec/status.
type DNSSECStatus struct {
	Enabled bool            `json:"enabled"`
	Keys    []DNSSECKeyUse  `json:"keys"`
	Sync    DNSSECSyncState `json:"sync"`
}

// DNSSECKeyUse is the use of a signing key in GET /api/v1/dnssec/status.
type DNSSECKeyUse struct {
	KeyTag     int       `json:"key_tag"`
	Zone       string    `json:"zone"` // with its trailing dot
	Flags      int       `json:"flags"`
	Algorithm  int       `json:"algorithm"`
	CreatedAt  time.Time `json:"created_at"`
	AgeSeconds int64     `json:"age_seconds"`
	Active     bool      `json:"active"` // it signs now
	Stage      KeyStage  `json:"stage"`
}

// DNSSECSyncState is the state of key synchronization with other nodes.
type DNSSECSyncState struct {
	Enabled       bool       `json:"enabled"`
	LastSync      *time.Time `json:"last_sync"`       // time of the last answers of all peers; null: never
	LastSyncError *string    `json:"last_sync_error"` // null: none
	NextSync      *time.Time `json:"next_sync"`       // null: no synchronization is scheduled
	PeerCount     int        `json:"peer_count"`
	// OffReason states why this node does not synchronize keys; null: it does.
	OffReason *string `json:"off_reason"`

	Peers []DNSSECPeer `json:"peers"`
}

// DNSSECPeer is the state of key synchronization with a peer.
type DNSSECPeer struct {
	Peer        string     `json:"peer"`    // its base URL
	NodeID      string     `json:"node_id"` // empty: it has never authenticated
	OK          bool       `json:"ok"`
	LastAttempt *time.Time `json:"last_attempt"` // null: never
	LastSuccess *time.Time `json:"last_success"` // null: never
	Imported    int        `json:"imported"`     // keys since the node's start
	Ignored     int        `json:"ignored"`      // keys of zones that this node does not serve
	Error       *string    `json:"error"`        // null: none
}

// DNSSECSync is the answer of POST /api/v1/dnssec/sync.
type DNSSECSync struct {
	Synced bool             `json:"synced"` // every peer answered, and the keys of the peers are in effect here
	Peers  []DNSSECPeerSync `json:"peers"`
}

// DNSSECPeerSync is the result of a request to a peer for its keys.
type DNSSECPeerSync struct {
	Peer     string  `json:"peer"`
	OK       bool    `json:"ok"`
	Imported int     `json:"imported"`
	Error    *string `json:"error"` // null: none
}

// DSRecords is the answer of GET /api/v1/dnssec/ds: the records for the parent zones.
type DSRecords struct {
	Enabled   bool       `json:"enabled"`
	DSRecords []DSRecord `json:"ds_records"`
	// NoDS are the zones that must have no DS record in the parent now: unsigned zones, and zones in a signing transition,
	// see GET /api/v1/dnssec/rollover.
	NoDS []string `json:"no_ds"`
	// Warning is a required step before the records are added to a parent zone; null: none.
	Warning *string `json:"warning"`
}

// ParentDS is the answer of GET /api/v1/dnssec/parent/{zone}: the DS records that a node finds at the servers of the
// parent of a zone.
type ParentDS struct {
	Zone      string     `json:"zone"` // with its trailing dot
	DSRecords []DSRecord `json:"ds_records"`
	// Configured reports that overwatch.dnssec.rollover.parent_servers names the servers.
	Configured bool    `json:"configured"`
	Problem    *string `json:"problem"` // reason why ds_records may lack some; null: all servers have answered
}

// SignedApart is the Warning of DSRecords while nodes do not exchange keys.
const SignedApart = "the nodes sign with different keys until overwatch.dnssec.key_sync.secret is set on all of " +
	"them: " +
	"set it before the parent zone gets a record, or resolvers refuse the answers of the other nodes"

// DSRecord is the delegation signer record of a key.
type DSRecord struct {
	Zone       string `json:"zone"` // with its trailing dot
	KeyTag     int    `json:"key_tag"`
	Algorithm  int    `json:"algorithm"`
	DigestType int    `json:"digest_type"`
	Digest     string `json:"digest"`    // in hexadecimal digits
	DSRecord   string `json:"ds_record"` // as a line of a zone file
}

// DNSSECKeys is the answer of GET /api/v1/dnssec/keys.
type DNSSECKeys struct {
	Enabled bool        `json:"enabled"`
	Keys    []DNSSECKey `json:"keys"`
	// Sealed holds the keys with their private halves, encrypted for another node that has authenticated. Keys is empty
	// then.
	Sealed string `json:"sealed,omitempty"`
}

// DNSSECKey is the public half of a signing key.
type DNSSECKey struct {
	Zone          string    `json:"zone"` // with its trailing dot
	KeyTag        int       `json:"key_tag"`
	Algorithm     int       `json:"algorithm"`
	AlgorithmName string    `json:"algorithm_name"`
	Flags         int       `json:"flags"`
	PublicKey     string    `json:"public_key"` // in base64, as in the DNSKEY record
	CreatedAt     time.Time `json:"created_at"`
	State         KeyState  `json:"state"`
	Stage         KeyStage  `json:"stage"`
	OriginNode    string    `json:"origin_node"` // empty: not known
}

// DNSSECStatus returns whether answers are signed, and the signing keys.
func (c *Client) DNSSECStatus(ctx context.Context) (DNSSECStatus, error) {
	return get[DNSSECStatus](ctx, c, "/api/v1/dnssec/status", nil)
}

// DSRecords lists the records that the parent zones should have.
func (c *Client) DSRecords(ctx context.Context) (DSRecords, error) {
	return get[DSRecords](ctx, c, "/api/v1/dnssec/ds", nil)
}

// ParentDS requests from a node the DS records at the parent of a zone that it serves.
func (c *Client) ParentDS(ctx context.Context, zone string) (ParentDS, error) {
	return get[ParentDS](ctx, c, "/api/v1/dnssec/parent/"+url.PathEscape(zone), nil)
}

// DNSSECKeys lists the public halves of the signing keys.
func (c *Client) DNSSECKeys(ctx context.Context) (DNSSECKeys, error) {
	return get[DNSSECKeys](ctx, c, "/api/v1/dnssec/keys", nil)
}

// SyncDNSSEC makes a node request the keys of its peers now.
func (c *Client) SyncDNSSEC(ctx context.Context) (DNSSECSync, error) {
	return ask[DNSSECSync](ctx, c,
		call{method: http.MethodPost, path: "/api/v1/dnssec/sync", timeout: SyncTimeout + answerMargin})
}
