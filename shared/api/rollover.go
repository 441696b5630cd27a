package api

import (
	"context"
	"net/http"
	"net/url"
	"time"
)

// RollWay is the goal of a rollover or signing transition.
type RollWay string

// The goals.
const (
	RollToKey      RollWay = "key"      // another key signs the zone
	RollToUnsigned RollWay = "unsigned" // the zone becomes unsigned
	RollToSigned   RollWay = "signed"   // an unsigned zone becomes signed
)

// RollStage is the progress of a node in a rollover or signing transition.
type RollStage string

// The stages of a rollover or signing transition.
const (
	RollSigning   RollStage = "signing"   // the new key signs; only where the algorithm changes
	RollPublished RollStage = "published" // the zone has the DNSKEY record of the new key
	RollOffered   RollStage = "offered"   // the parent must publish its DS record, or none to unsigned
	RollAlone     RollStage = "alone"     // the old keys no longer sign, or are no longer published
	RollUnsigned  RollStage = "unsigned"  // the zone is unsigned, and caches still have signed answers
	RollDone      RollStage = "done"      // the old keys are deleted, or the signing transition is complete
)

// Rolls is the answer of GET /api/v1/dnssec/rollover.
type Rolls struct {
	Enabled bool   `json:"enabled"` // answers are signed
	Rolls   []Roll `json:"rolls"`
}

// Roll is the state of a key rollover of a zone, or of a signing transition to unsigned or signed, on a node. A signing
// transition has no key: KeyTag is 0, OldKeys and DSRecord are empty.
type Roll struct {
	Zone       string     `json:"zone"` // with its trailing dot
	Way        RollWay    `json:"way"`
	Stage      RollStage  `json:"stage"`
	Since      time.Time  `json:"since"`
	StartedAt  time.Time  `json:"started_at"`
	StartedBy  string     `json:"started_by"` // the id of the node
	Emergency  bool       `json:"emergency"`
	KeyTag     int        `json:"key_tag"`     // of the new key
	OldKeys    []int      `json:"old_keys"`    // tags of the keys that the rollover removes
	DSRecord   string     `json:"ds_record"`   // of the new key
	WaitsFor   *string    `json:"waits_for"`   // null: no step is left, or the node has not checked the conditions
	WaitsUntil *time.Time `json:"waits_until"` // null: depends on other nodes or the parent
	// ParentSince is the time since when all servers of the parent zone publish the required DS records and no others;
	// null: they do not.
	ParentSince *time.Time `json:"parent_since"`
	ConfirmedAt *time.Time `json:"confirmed_at"` // time of the operator's confirmation; null: none
	// Schedule has the remaining stages. Schedule and Advice are empty until the node has queried its peers and the
	// parent.
	Schedule []RollStep   `json:"schedule"`
	Advice   []RollAdvice `json:"advice"`
}

// RollStep is a remaining stage.
type RollStep struct {
	Stage     RollStage `json:"stage"`
	NotBefore time.Time `json:"not_before"` // if nodes and parent act immediately
	WaitsFor  *string   `json:"waits_for"`  // known reasons for a later time; null: none
}

// RollAct is a manual step that may break something during a rollover.
type RollAct string

// The acts.
const (
	RollReplaceDS RollAct = "replace_ds" // replace all DS records in the parent by the DS record of the new key
	RollRemoveDS  RollAct = "remove_ds"  // remove all DS records from the parent
	RollRemoveKey RollAct = "remove_key" // delete the files of the old keys on the nodes
	RollCancel    RollAct = "cancel"     // cancel the rollover
	RollBegin     RollAct = "begin"      // begin a rollover; only gslbctl uses it
	RollSign      RollAct = "sign"       // sign an unsigned zone; only gslbctl uses it
)

// RollAdvice reports whether an act is safe now.
type RollAdvice struct {
	Act    RollAct    `json:"act"`
	Safe   bool       `json:"safe"`
	Until  *time.Time `json:"until"`  // earliest safe time; null: safe now, or dependent on others
	Reason *string    `json:"reason"` // resolvers and answers that would fail validation now; null: none
}

// RollCreate is the body of POST /api/v1/dnssec/rollover.
type RollCreate struct {
	Zone string `json:"zone"`
	// Algorithm is the algorithm of the new key: ECDSAP256SHA256 or ED25519; empty: overwatch.dnssec.algorithm of the
	// node. Nodes with another configured algorithm start a further rollover.
	Algorithm string `json:"algorithm,omitempty"`
	// Emergency takes the shortest path that breaks no chain of trust: the old key may be compromised.
	Emergency bool `json:"emergency,omitempty"`
	// TakeOver replaces a running rollover. It requires Emergency. The key of the running rollover remains the new key if
	// the zone has the maximum number of published keys.
	TakeOver bool `json:"take_over,omitempty"`
}

const pathRollover = "/api/v1/dnssec/rollover"

// Rolls lists the key rollovers and signing transitions, including finished ones.
func (c *Client) Rolls(ctx context.Context) (Rolls, error) {
	return get[Rolls](ctx, c, pathRollover, nil)
}

// BeginRoll begins a key rollover of a zone.
func (c *Client) BeginRoll(ctx context.Context, r RollCreate) (Roll, error) {
	return send[Roll](ctx, c, http.MethodPost, pathRollover, r)
}

// PreviewRoll returns the result of BeginRoll, with all stages and without the new key. It changes nothing.
func (c *Client) PreviewRoll(ctx context.Context, r RollCreate) (Roll, error) {
	return ask[Roll](ctx, c, call{method: http.MethodPost, path: pathRollover, body: r,
		query: url.Values{"dry_run": {"true"}}})
}

// CancelRoll cancels the key rollover of a zone.
func (c *Client) CancelRoll(ctx context.Context, zone string) (Roll, error) {
	return send[Roll](ctx, c, http.MethodDelete, pathRollover, nil, zone)
}

// ConfirmRoll reports to the node that the parent zone has only the new DS record.
func (c *Client) ConfirmRoll(ctx context.Context, zone string) (Roll, error) {
	return send[Roll](ctx, c, http.MethodPost, pathRollover, nil, zone, "confirm")
}

// UnsignZone begins the signing transition of a zone to unsigned.
func (c *Client) UnsignZone(ctx context.Context, zone string) (Roll, error) {
	return send[Roll](ctx, c, http.MethodPost, pathRollover, nil, zone, "unsign")
}

// SignZone begins the signing transition to signed, for a zone that UnsignZone has made or is making unsigned.
func (c *Client) SignZone(ctx context.Context, zone string) (Roll, error) {
	return send[Roll](ctx, c, http.MethodPost, pathRollover, nil, zone, "sign")
}

// PreviewWay returns the result of UnsignZone or SignZone, with all stages. It changes nothing.
func (c *Client) PreviewWay(ctx context.Context, zone string, way RollWay) (Roll, error) {
	verb := "unsign"
	if way == RollToSigned {
		verb = "sign"
	}
	return ask[Roll](ctx, c, call{method: http.MethodPost, path: pathRollover, names: []string{zone, verb},
		query: url.Values{"dry_run": {"true"}}})
}

// RollForce lists the nodes that a rollover or signing transition no longer waits for at its stage.
type RollForce struct {
	Zone    string       `json:"zone"`
	Way     RollWay      `json:"way"`
	Stage   RollStage    `json:"stage"`
	Without []RollSilent `json:"without"`
	Risk    string       `json:"risk"` // the damage if a node of Without still answers resolvers
}

// RollSilent is a node that does not answer.
type RollSilent struct {
	Peer   string `json:"peer"` // entry of overwatch.dnssec.key_sync.peers
	Reason string `json:"reason"`
}

// ForceRoll makes a rollover continue without the nodes that do not answer. It returns these nodes and the risk. With
// preview it changes nothing.
func (c *Client) ForceRoll(ctx context.Context, zone string, preview bool) (RollForce, error) {
	forced := call{method: http.MethodPost, path: pathRollover, names: []string{zone, "force"}}
	if preview {
		forced.query = url.Values{"dry_run": {"true"}}
	}
	return ask[RollForce](ctx, c, forced)
}
