package api

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"gslb.internal/shared/model"
)

// AuditEntry is a change and its actor. Before and After are JSON of the changed object.
type AuditEntry struct {
	// ID is 1 more than the ID of the previous entry; see FirstRefusal and FirstReceived.
	ID           uint64            `json:"id"`
	Timestamp    time.Time         `json:"timestamp"`
	Action       string            `json:"action"`
	Resource     string            `json:"resource"`
	ResourceID   string            `json:"resource_id"`
	Actor        string            `json:"actor"`
	ActorType    string            `json:"actor_type"`
	ActorIP      string            `json:"actor_ip"`
	Status       string            `json:"status"`
	Details      map[string]string `json:"details"`
	Before       json.RawMessage   `json:"before"`
	After        json.RawMessage   `json:"after"`
	DurationMs   float64           `json:"duration_ms"`
	RequestID    string            `json:"request_id"`
	PreviousHash string            `json:"previous_hash"` // Hash of the previous entry; "" in the first entry
	Hash         string            `json:"hash"`
}

// The values of ActorType and Status in audit entries.
const (
	ActorUser    = "user"
	ActorSystem  = "system"
	AuditSuccess = "success"
	AuditFailure = "failure"
)

// The actions of audit entries.
const (
	AuditCreate   = "create"
	AuditUpdate   = "update"
	AuditDelete   = "delete"
	AuditApply    = "apply" // an operator applies a document
	AuditRevoke   = "revoke"
	AuditDrain    = "drain"
	AuditUndrain  = "undrain"
	AuditWeight   = "weight"   // an operator sets a weight over the declared one
	AuditOverride = "override" // an operator sets an override
	// AuditClearWeight and AuditClearOverride: an operator removes the weight or the override. Nodes up to version 0.9
	// wrote AuditWeight and AuditOverride for removals, with null as After.
	AuditClearWeight   = "clear_weight"
	AuditClearOverride = "clear_override"
	AuditBegin         = "begin"    // a planned override, weight or drain takes effect; the actor is the node
	AuditExpire        = "expire"   // an override, weight, drain or DNS record expires; the actor is the node
	AuditHold          = "hold"     // mass-failure protection begins a hold of agent reports; the actor is the node
	AuditRelease       = "release"  // a hold ends
	AuditFailback      = "failback" // an operator returns the clients of regions that were down
	AuditReload        = "reload"
	AuditRoll          = "roll"    // a key rollover begins or enters the next stage
	AuditCancel        = "cancel"  // a key rollover is canceled
	AuditConfirm       = "confirm" // an operator confirms that the parent has the new DS record
	AuditUnsign        = "unsign"  // the signing transition of a zone to unsigned begins
	AuditSign          = "sign"    // the signing transition of a zone to signed begins
	AuditForce         = "force"   // a key rollover continues without nodes that do not answer
	AuditSync          = "sync"
	AuditValidate      = "validate"
	AuditRefused       = "refused" // a rejected request or agent report, which changed no object
	AuditReceive       = "receive" // the change of another node; the actor is the node that made it
)

// FirstRefusal is the lowest ID of an entry about a rejected request or report. Entries about rejections have their own
// IDs and hash chain, so that they displace no entry about a change.
const FirstRefusal uint64 = 1_000_000_000_001

// FirstReceived is the lowest ID of an entry about the change of another node. These entries have their own IDs and
// hash chain, so that they displace no other entry.
const FirstReceived uint64 = 2_000_000_000_001

// AuditActions lists the possible values of an entry's action.
func AuditActions() []string {
	return []string{AuditCreate, AuditUpdate, AuditDelete, AuditApply, AuditRevoke, AuditDrain, AuditUndrain,
		AuditWeight, AuditClearWeight, AuditOverride, AuditClearOverride, AuditBegin, AuditExpire, AuditHold,
		AuditRelease, AuditFailback, AuditReload, AuditRoll, AuditCancel, AuditConfirm, AuditUnsign, AuditSign,
		AuditForce, AuditSync, AuditValidate, AuditRefused, AuditReceive}
}

// AuditResources lists the possible values of an entry's resource type.
func AuditResources() []string {
	list := []string{"domain", "server", "region", "backend", "agent", "override", "geo_mapping", "dnssec", "config",
		"preferences", "gossip", "request", "brake", "overlay", "document", "replication", "token"}
	for _, k := range model.Kinds() {
		if !slices.Contains(list, k.Resource) {
			list = append(list, k.Resource)
		}
	}
	return list
}

// AuditList is the answer of GET /api/v1/audit-logs.
type AuditList struct {
	Entries     []AuditEntry `json:"entries"`
	Total       int          `json:"total"`
	Limit       int          `json:"limit"`
	Offset      int          `json:"offset"`
	GeneratedAt time.Time    `json:"generated_at"`
}

// AuditExport is the answer of GET /api/v1/audit-logs/export as JSON.
type AuditExport struct {
	Entries []AuditEntry `json:"entries"`
}

// AuditOne is the answer of GET /api/v1/audit-logs/{id}.
type AuditOne struct {
	Entry AuditEntry `json:"entry"`
}

// AuditStats counts the stored entries.
type AuditStats struct {
	TotalEntries   int            `json:"total_entries"`
	EntriesLast24h int            `json:"entries_last_24h"`
	EntriesLast7d  int            `json:"entries_last_7d"`
	ByAction       map[string]int `json:"by_action"`
	ByResource     map[string]int `json:"by_resource"`
	ByStatus       map[string]int `json:"by_status"`
	ByActorType    map[string]int `json:"by_actor_type"`
	TopActors      []ActorCount   `json:"top_actors"`
	RetentionDays  float64        `json:"retention_days"`
	OldestEntry    *time.Time     `json:"oldest_entry"`
	NewestEntry    *time.Time     `json:"newest_entry"`
}

// ActorCount is the number of entries of an actor.
type ActorCount struct {
	Actor string `json:"actor"`
	Count int    `json:"count"`
}

// AuditStatsAnswer is the answer of GET /api/v1/audit-logs/stats.
type AuditStatsAnswer struct {
	Stats       AuditStats `json:"stats"`
	GeneratedAt time.Time  `json:"generated_at"`
}

// Sum computes the hash of the entry: the SHA-256, in hexadecimal, of its JSON as encoding/json
// writes it, with an empty Hash.
func (e AuditEntry) Sum() (string, error) {
	e.Hash = ""
	canonical, err := json.Marshal(e)
	if err != nil {
		return "", fmt.Errorf("encoding audit entry %d: %w", e.ID, err)
	}
	sum := sha256.Sum256(canonical)
	return hex.EncodeToString(sum[:]), nil
}

// Follows checks the hash of the entry, and that before is the entry with the previous ID. A nil before means that the
// entry is the oldest stored entry; then earlier entries are not checked.
func (e AuditEntry) Follows(before *AuditEntry) error {
	sum, err := e.Sum()
	switch {
	case err != nil:
		return err
	case sum != e.Hash:
		return fmt.Errorf("audit entry %d was changed: its content does not have its hash", e.ID)
	case before == nil && (e.ID == 1 || e.ID == FirstRefusal || e.ID == FirstReceived) && e.PreviousHash != "":
		return fmt.Errorf("audit entry %d was changed: it names an entry before it", e.ID)
	case before == nil:
		return nil
	case e.ID != before.ID+1:
		return fmt.Errorf("audit entry %d follows entry %d: entries are missing or out of order", e.ID, before.ID)
	case e.PreviousHash != before.Hash:
		return fmt.Errorf("audit entry %d does not continue from entry %d: one of them was replaced", e.ID, before.ID)
	}
	return nil
}

// DetailConfigured is the key of AuditEntry.Details with the values of the configuration file for the fields of an
// overlay, as a JSON object. Without an overlay before or after a change, these values were in force.
const DetailConfigured = "configured"

// DetailSecrets is the key of AuditEntry.Details of a change that replaced or removed a secret: a header value or send
// of a health check, which entries omit. Its value is "true". An undo cannot restore the secret.
const DetailSecrets = "secrets_changed"

// The keys of AuditEntry.Details that identify the entries of a change, and the order of the changes of all nodes.
const (
	DetailChange  = "change"  // ID of a command that the client sent with all its requests, see ChangeHeader
	DetailVersion = "version" // see FormatVersion; of an operator's change
)

// FormatVersion returns the version of a change, the reading of a clock that the changes of all nodes share. Versions
// are in the order of their texts.
func FormatVersion(milliseconds int64, count uint32) string {
	return fmt.Sprintf("%015d.%010d", milliseconds, count)
}

// Undone is the answer of POST /api/v1/audit-logs/{id}/undo: the undone change, or with dry_run the change to undo.
type Undone struct {
	Success bool   `json:"success"`
	Message string `json:"message"`
	Entry   uint64 `json:"entry"` // the latest entry of the change, which At, Action, Resource and ResourceID describe
	// Entries are the numbers of all entries of the change, the latest first.
	Entries    []uint64  `json:"entries,omitempty"`
	Change     string    `json:"change,omitempty"`  // its id, see ChangeHeader; empty: its requests had none
	Version    string    `json:"version,omitempty"` // see FormatVersion
	At         time.Time `json:"at"`                // time of the change
	Action     string    `json:"action"`
	Resource   string    `json:"resource"`
	ResourceID string    `json:"resource_id"`
}
