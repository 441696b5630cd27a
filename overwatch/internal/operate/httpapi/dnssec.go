package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"gslb.internal/overwatch/internal/answer/dnssec"
	"gslb.internal/overwatch/internal/cluster/keysync"
	"gslb.internal/overwatch/internal/control/fault"
	"gslb.internal/overwatch/internal/control/objects"
	"gslb.internal/overwatch/internal/control/operations"
	"gslb.internal/shared/api"
)

func dnssecOperations() []Operation {
	return []Operation{
		{Method: get, Path: v1 + "/dnssec/status", handle: (*Server).getDNSSECStatus,
			Summary: "Get DNSSEC status and keys", Status: 200,
			Answer: api.DNSSECStatus{Enabled: true, Keys: []api.DNSSECKeyUse{
				{KeyTag: 12345, Zone: "example.com.", Flags: 257, Algorithm: 13, CreatedAt: exampleTime(), AgeSeconds: 86400,
					Active: true,
					Stage:  api.StageActive}},
				Sync: api.DNSSECSyncState{Enabled: true, LastSync: new(exampleTime()), NextSync: new(exampleTime().Add(time.Hour)),
					PeerCount: 1,
					Peers: []api.DNSSECPeer{{
						Peer: "http://overwatch-2.example.com:8080", NodeID: "overwatch-2", OK: true,
						LastAttempt: new(exampleTime()),
						LastSuccess: new(exampleTime())}}}}},
		{Method: get, Path: v1 + "/dnssec/ds", handle: (*Server).listDSRecords,
			Summary: "List DS records for the parent zones", Status: 200,
			Answer: api.DSRecords{Enabled: true, DSRecords: []api.DSRecord{
				{Zone: "example.com.", KeyTag: 12345, Algorithm: 13, DigestType: 2, Digest: "0F1E2D3C",
					DSRecord: "example.com. IN DS 12345 13 2 0F1E2D3C"}}, NoDS: []string{}}},
		{Method: get, Path: v1 + "/dnssec/parent/{zone}", handle: signing((*Server).getParentDS),
			Summary: "List DS records at the servers of the parent zone", Status: 200, Errors: []int{absent, busy},
			Description: "The node queries overwatch.dnssec.rollover.parent_servers, or the servers that its " +
				"resolver " +
				"finds, for at most 8 seconds.",
			Answer: api.ParentDS{Zone: "example.com.", Configured: true, DSRecords: []api.DSRecord{
				{Zone: "example.com.", KeyTag: 12345, Algorithm: 13, DigestType: 2, Digest: "0F1E2D3C",
					DSRecord: "example.com. IN DS 12345 13 2 0F1E2D3C"}}}},
		{Method: post, Path: v1 + "/dnssec/sync", Changes: KindNode,
			handle: (*Server).postDNSSECSync, Role: api.RoleOperate,
			Summary: "Exchange keys with the other nodes now", Status: 200, Errors: []int{conflict, busy},
			Answer: api.DNSSECSync{Synced: true, Peers: []api.DNSSECPeerSync{
				{Peer: "http://overwatch-2.example.com:8080", OK: true, Imported: 1}}}},
		{Method: get, Path: v1 + "/dnssec/keys", handle: (*Server).listDNSSECKeys, Role: api.RoleNone, nodes: true,
			Summary: "Get public keys, and encrypted private keys (peers only)", Status: 200,
			Answer: api.DNSSECKeys{Enabled: true, Keys: []api.DNSSECKey{
				{Zone: "example.com.", KeyTag: 12345, Algorithm: 13, AlgorithmName: "ECDSAP256SHA256", Flags: 257,
					PublicKey: "mdsswUyr3DPW132mOi8V9xESWE8jTo0d", CreatedAt: exampleTime(), State: api.KeyActive,
					Stage: api.StageActive, OriginNode: "overwatch-1"}}}},
	}
}

// KeySync exchanges keys with other nodes.
type KeySync interface {
	// Challenge returns the value of WWW-Authenticate for a node that requests keys.
	Challenge() string
	// Seal returns the signing keys, encrypted for a node that proves the shared secret in its Authorization. The node may
	// receive the error.
	Seal(authorization string) (sealed string, err error)
	Status() api.DNSSECSyncState
	// About returns the last description that a peer sent, and the time of its arrival.
	About(peer string) (keysync.About, time.Time)
	operations.Rolls
	// Rolls returns the key rollovers and signing transitions.
	Rolls() []dnssec.RollState
	// Parent queries the servers of a zone's parent for its DS records. configured reports whether the configuration
	// defines the servers.
	Parent(ctx context.Context, apex string) (found dnssec.Parent, configured bool, err error)
	// Apart reports whether nodes may use different signing keys because keys are not exchanged.
	Apart() bool
	// Sync requests the keys of the other nodes, and returns when answers are signed with these keys.
	Sync(context.Context) (api.DNSSECSync, error)
}

// signingKeys returns the keys of the signed zones, or none if answers are unsigned.
func (s *Server) signingKeys() []dnssec.KeyState {
	if s.o.SigningKeys == nil {
		return nil
	}
	return s.o.SigningKeys()
}

// getDNSSECStatus answers GET /dnssec/status.
func (s *Server) getDNSSECStatus(*call) (answer, error) {
	status := api.DNSSECStatus{Enabled: s.o.SigningKeys != nil, Keys: []api.DNSSECKeyUse{},
		Sync: api.DNSSECSyncState{Peers: []api.DNSSECPeer{}}}
	if s.o.KeySync != nil {
		status.Sync = s.o.KeySync.Status()
	}
	for _, k := range s.signingKeys() {
		status.Keys = append(status.Keys, api.DNSSECKeyUse{
			KeyTag: int(k.Tag()), Zone: k.Zone(), Flags: dnssec.Flags, Algorithm: int(k.Algorithm()),
			CreatedAt:  stamp(k.Created()),
			AgeSeconds: int64(s.o.Now().Sub(k.Created()).Seconds()), Active: k.Signing,
			Stage: stageOf(&k),
		})
	}
	return ok(status), nil
}

// listDSRecords answers GET /dnssec/ds with the DS records for the parent. It omits provisional keys, because a key of
// another node can replace them.
func (s *Server) listDSRecords(*call) (answer, error) {
	list := api.DSRecords{Enabled: s.o.SigningKeys != nil, DSRecords: []api.DSRecord{}, NoDS: []string{}}
	if s.o.KeySync != nil && s.o.KeySync.Apart() {
		warning := api.SignedApart
		list.Warning = &warning
	}
	if s.o.KeySync != nil {
		for _, r := range s.o.KeySync.Rolls() {
			if r.WithholdsDS() {
				list.NoDS = append(list.NoDS, r.Zone)
			}
		}
	}
	for _, k := range s.signingKeys() {
		if !k.Offered {
			continue
		}
		ds := k.DS(0)
		list.DSRecords = append(list.DSRecords, api.DSRecord{
			Zone: k.Zone(), KeyTag: int(ds.KeyTag), Algorithm: int(ds.Algorithm), DigestType: int(ds.DigestType),
			Digest:   strings.ToUpper(ds.Digest),
			DSRecord: k.DSLine(),
		})
	}
	return ok(list), nil
}

// parentTimeout bounds the questions of GET /dnssec/parent.
const parentTimeout = 8 * time.Second

// getParentDS answers GET /dnssec/parent/{zone}.
func (s *Server) getParentDS(c *call) (answer, error) {
	ctx, cancel := context.WithTimeout(c.Request.Context(), parentTimeout)
	defer cancel()
	apex := strings.ToLower(strings.TrimSuffix(c.Param("zone"), ".")) + "."
	found, configured, err := s.o.KeySync.Parent(ctx, apex)
	switch {
	case err != nil && ctx.Err() != nil:
		return answer{}, problemf(http.StatusServiceUnavailable, "%.260s: other requests to the parent's servers are "+
			"under way: retry in a few seconds", apex)
	case err != nil:
		return answer{}, objects.RollFault(apex, err)
	}
	list := api.ParentDS{Zone: apex, DSRecords: []api.DSRecord{}, Configured: configured,
		Problem: objects.NonDefault(found.Why, "")}
	for _, ds := range found.DS {
		r := api.DSRecord{Zone: apex, KeyTag: int(ds.KeyTag), Algorithm: int(ds.Algorithm),
			DigestType: int(ds.DigestType),
			Digest:     strings.ToUpper(ds.Digest)}
		r.DSRecord = fmt.Sprintf("%s IN DS %d %d %d %s", apex, r.KeyTag, r.Algorithm, r.DigestType, r.Digest)
		if !slices.Contains(list.DSRecords, r) {
			list.DSRecords = append(list.DSRecords, r)
		}
	}
	return ok(list), nil
}

// listDNSSECKeys answers GET /dnssec/keys with public keys. A node that proves the shared secret receives the private
// keys, encrypted for its request.
func (s *Server) listDNSSECKeys(c *call) (answer, error) {
	list := api.DNSSECKeys{Enabled: s.o.SigningKeys != nil, Keys: []api.DNSSECKey{}}
	if s.o.KeySync != nil {
		var err error
		if list.Sealed, err = s.encryptForNode(c, s.o.KeySync, s.o.KeySync.Seal); err != nil || list.Sealed != "" {
			return ok(list), err
		}
	}
	for _, k := range s.signingKeys() {
		list.Keys = append(list.Keys, api.DNSSECKey{
			Zone: k.Zone(), KeyTag: int(k.Tag()), Algorithm: int(k.Algorithm()), AlgorithmName: k.Algorithm().String(),
			Flags:     dnssec.Flags,
			PublicKey: k.PublicKey(), CreatedAt: stamp(k.Created()), State: keyStates[k.State],
			Stage: stageOf(&k), OriginNode: k.Origin(),
		})
	}
	return ok(list), nil
}

var keyStates = map[dnssec.State]api.KeyState{
	dnssec.Published: api.KeyPublished, dnssec.Active: api.KeyActive, dnssec.Retired: api.KeyRetired,
}

// stageOf returns the stage of a key. The stage of an active key depends on the rollover. The stage of other keys
// equals their state.
func stageOf(k *dnssec.KeyState) api.KeyStage {
	switch {
	case k.State == dnssec.Active && k.Incoming:
		return api.StageIncoming
	case k.State == dnssec.Active && k.Retiring:
		return api.StageRetiring
	}
	return api.KeyStage(keyStates[k.State])
}

// postDNSSECSync answers POST /dnssec/sync.
func (s *Server) postDNSSECSync(c *call) (answer, error) {
	if s.o.KeySync == nil {
		return answer{},
			badRequest("this node does not sign (overwatch.dnssec.enabled is false), so there are no keys to exchange")
	}
	if !s.o.KeySync.Status().Enabled {
		return answer{}, badRequest("no peer is configured: list the other nodes in overwatch.dnssec.key_sync.peers")
	}
	if off := s.o.KeySync.Status().OffReason; off != nil {
		return answer{}, fault.Conflictf("no keys are exchanged: %s", *off)
	}
	ctx, cancel := context.WithTimeout(c.Request.Context(), api.SyncTimeout)
	defer cancel()
	began := time.Now()
	done, err := s.o.KeySync.Sync(ctx)
	if err != nil && ctx.Err() != nil {
		err = problemf(http.StatusServiceUnavailable,
			"not all other nodes have answered within %s; the exchange continues: see GET /api/v1/dnssec/status",
			api.SyncTimeout)
	}
	s.op.Record(c.request(), &operations.Change{Action: "sync", Resource: "dnssec", ID: s.o.NodeID, After: done}, began,
		err)
	if err != nil {
		return answer{}, err
	}
	return ok(done), nil
}
