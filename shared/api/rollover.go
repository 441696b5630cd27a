package api

import (
	"context"
	"net/http"
	"net/url"
	"time"
)

// RollWay is the goal of a roll.
type RollWay string

// The ways.
const (
	RollToKey      RollWay = "key"      // another key signs the zone
	RollToUnsigned RollWay = "unsigned" // the zone goes without signatures
	RollToSigned   RollWay = "signed"   // a zone without signatures is signed again
)

// RollStage is a node's progress in a roll.
type RollStage string

// The stages of a roll.
const (
	RollSigning   RollStage = "signing"   // the new key signs; only where the algorithm changes
	RollPublished RollStage = "published" // its DNSKEY record is there
	RollOffered   RollStage = "offered"   // its DS record is what the parent is to have; on the way to unsigned, none is
	RollAlone     RollStage = "alone"     // the old keys sign no longer, or are no longer published
	RollUnsigned  RollStage = "unsigned"  // the zone is not signed, and caches have signed answers still
	RollDone      RollStage = "done"      // the old keys are gone; or the zone has come to the end of its way
)

// Rolls is the answer of GET /api/v1/dnssec/rollover.
type Rolls struct {
	Enabled bool   `json:"enabled"` // answers are signed
	Rolls   []Roll `json:"rolls"`
}

// Roll is the change of a zone's signing key, as a node sees it, or the zone's way to be unsigned or signed. The latter
// has no key: KeyTag is 0, OldKeys and DSRecord are empty.
type Roll struct {
	Zone       string     `json:"zone"` // with its trailing dot
	Way        RollWay    `json:"way"`
	Stage      RollStage  `json:"stage"`
	Since      time.Time  `json:"since"`
	StartedAt  time.Time  `json:"started_at"`
	StartedBy  string     `json:"started_by"` // the id of the node
	Emergency  bool       `json:"emergency"`
	KeyTag     int        `json:"key_tag"`     // of the key that is to stay
	OldKeys    []int      `json:"old_keys"`    // tags of those that are to go
	DSRecord   string     `json:"ds_record"`   // of the key that is to stay
	WaitsFor   *string    `json:"waits_for"`   // null: nothing is left to do, or it has not been looked at yet
	WaitsUntil *time.Time `json:"waits_until"` // null: that depends on others
	// ParentSince is since when the parent's servers have had what the way leads to, such as DSRecord and no other; null:
	// they have not.
	ParentSince *time.Time `json:"parent_since"`
	ConfirmedAt *time.Time `json:"confirmed_at"` // when an operator said so; null: never
	// Schedule has the stages to come. It and Advice are empty until the node has looked at the others and the parent.
	Schedule []RollStep   `json:"schedule"`
	Advice   []RollAdvice `json:"advice"`
}

// RollStep is a stage to come.
type RollStep struct {
	Stage     RollStage `json:"stage"`
	NotBefore time.Time `json:"not_before"` // where nodes and parent do at once what they are to do
	WaitsFor  *string   `json:"waits_for"`  // what may delay it beyond that, as far as is known; null: nothing
}

// RollAct is an act of an operator that may break something while a key changes.
type RollAct string

// The acts.
const (
	RollReplaceDS RollAct = "replace_ds" // give the parent the new key's DS record in place of all others
	RollRemoveDS  RollAct = "remove_ds"  // take all DS records out of the parent
	RollRemoveKey RollAct = "remove_key" // take the files of the old keys off the nodes
	RollCancel    RollAct = "cancel"     // take the change back
	RollBegin     RollAct = "begin"      // begin a change, where none is under way: gslbctl alone says so
	RollSign      RollAct = "sign"       // sign a zone that is not: gslbctl alone says so
)

// RollAdvice says whether an act breaks anything now.
type RollAdvice struct {
	Act    RollAct    `json:"act"`
	Safe   bool       `json:"safe"`
	Until  *time.Time `json:"until"`  // when it is safe, at the earliest; null: it is, or that depends on others
	Reason *string    `json:"reason"` // who refuses what, if it is done now; null: nobody does
}

// RollCreate is the body of POST /api/v1/dnssec/rollover.
type RollCreate struct {
	Zone string `json:"zone"`
	// Algorithm is that of the new key, ECDSAP256SHA256 or ED25519; empty: overwatch.dnssec.algorithm of the node. Where
	// the nodes' configurations name another one, they change it again.
	Algorithm string `json:"algorithm,omitempty"`
	// Emergency takes the shortest way that breaks no chain of trust: the old key may be known to others.
	Emergency bool `json:"emergency,omitempty"`
	// TakeOver replaces a roll that is under way. It requires Emergency. The key of that roll remains the new key if
	// the zone has as many keys as can be published.
	TakeOver bool `json:"take_over,omitempty"`
}

const pathRollover = "/api/v1/dnssec/rollover"

// Rolls lists the changes of signing keys, ended ones included.
func (c *Client) Rolls(ctx context.Context) (Rolls, error) {
	return get[Rolls](ctx, c, pathRollover, nil)
}

// BeginRoll begins the change of a zone's key.
func (c *Client) BeginRoll(ctx context.Context, r RollCreate) (Roll, error) {
	return send[Roll](ctx, c, http.MethodPost, pathRollover, r)
}

// PreviewRoll returns what BeginRoll would, with the stages to come and without the new key. Nothing changes.
func (c *Client) PreviewRoll(ctx context.Context, r RollCreate) (Roll, error) {
	return ask[Roll](ctx, c, call{method: http.MethodPost, path: pathRollover, body: r,
		query: url.Values{"dry_run": {"true"}}})
}

// CancelRoll cancels the change of a zone's key.
func (c *Client) CancelRoll(ctx context.Context, zone string) (Roll, error) {
	return send[Roll](ctx, c, http.MethodDelete, pathRollover, nil, zone)
}

// ConfirmRoll tells the node that the parent zone has the new DS record and no other.
func (c *Client) ConfirmRoll(ctx context.Context, zone string) (Roll, error) {
	return send[Roll](ctx, c, http.MethodPost, pathRollover, nil, zone, "confirm")
}

// UnsignZone begins to remove a zone's signatures.
func (c *Client) UnsignZone(ctx context.Context, zone string) (Roll, error) {
	return send[Roll](ctx, c, http.MethodPost, pathRollover, nil, zone, "unsign")
}

// SignZone begins to sign a zone again that UnsignZone has made unsigned, or is about to.
func (c *Client) SignZone(ctx context.Context, zone string) (Roll, error) {
	return send[Roll](ctx, c, http.MethodPost, pathRollover, nil, zone, "sign")
}

// PreviewWay returns what UnsignZone or SignZone would, with the stages to come. Nothing changes.
func (c *Client) PreviewWay(ctx context.Context, zone string, way RollWay) (Roll, error) {
	verb := "unsign"
	if way == RollToSigned {
		verb = "sign"
	}
	return ask[Roll](ctx, c, call{method: http.MethodPost, path: pathRollover, names: []string{zone, verb},
		query: url.Values{"dry_run": {"true"}}})
}

// RollForce lists what a change of key, or the way of a zone, no longer waits for at its stage.
type RollForce struct {
	Zone    string       `json:"zone"`
	Way     RollWay      `json:"way"`
	Stage   RollStage    `json:"stage"`
	Without []RollSilent `json:"without"`
	Risk    string       `json:"risk"` // what breaks if one of Without answers resolvers
}

// RollSilent is a node that another one does not hear of.
type RollSilent struct {
	Peer   string `json:"peer"` // as overwatch.dnssec.key_sync.peers has it
	Reason string `json:"reason"`
}

// ForceRoll makes a roll go on without the nodes that do not answer. It returns these nodes and the risk. With preview
// it changes nothing.
func (c *Client) ForceRoll(ctx context.Context, zone string, preview bool) (RollForce, error) {
	forced := call{method: http.MethodPost, path: pathRollover, names: []string{zone, "force"}}
	if preview {
		forced.query = url.Values{"dry_run": {"true"}}
	}
	return ask[RollForce](ctx, c, forced)
}
