package httpapi

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"gslb.internal/overwatch/internal/cluster/hints"
	"gslb.internal/overwatch/internal/cluster/replication"
	"gslb.internal/overwatch/internal/leaf/httpserve"
	"gslb.internal/shared/api"
)

// maxChange is the maximum number of a change, because JSON cannot represent larger integers exactly.
const maxChange = 1 << 53

func replicationOperations() []Operation {
	return []Operation{
		{Method: get, Path: v1 + "/replication", handle: (*Server).getReplication, Query: none,
			Summary: "Get the replication status", Status: 200,
			Answer: api.Replication{Enabled: true, NodeID: "overwatch-1", Objects: 12, Tombstones: 1,
				Digest: "0f1e2d3c",
				Peers: []api.ReplicationPeer{{Peer: "http://overwatch-2.example.com:8080", NodeID: "overwatch-2",
					Connected: true, Since: exampleTime(), ClockDifferenceMS: 3}},
				Refused: []api.ReplicationRefused{{Kind: "domain", Name: "app.example.org",
					Reason: "it does not go with the configuration of this node"}},
				Unused: []api.ReplicationRefused{{Kind: "override", Name: "old.example.com 192.0.2.1:80",
					Reason: "no name old.example.com is answered"}}, UnusedTotal: 1}},
		{Method: get, Path: replication.Path, handle: (*Server).getReplicationObjects, Role: api.RoleNone, nodes: true,
			Summary: "Get encrypted replicated objects (peers only)", Status: 200,
			Query: []Parameter{number("since", "number of the last change that the node has received", 0, maxChange, 0),
				number("has", "number up to which the node has stored all changes, at most since", 0, maxChange, maxChange),
				text("instance", "process of this node that numbered the changes, and the clock of the requesting node", nil),
				flag("hold", "wait for the next change")},
			Answer: api.ReplicationObjects{Sealed: "p5cW"}},
		{Method: get, Path: hints.Path, handle: (*Server).getReplicationHints, Role: api.RoleNone, nodes: true,
			Summary: "Send a hint to check backends now (peers only)", Status: 200,
			Query: []Parameter{text("backends", "ids of backends that fail, separated by commas",
				"app.example.com:192.0.2.1:443")},
			Answer: api.ReplicationHints{Sealed: "p5cW"}},
	}
}

// Hints receives hints about failures of other nodes; hints.Exchange implements it.
type Hints interface {
	// Challenge returns the value of WWW-Authenticate for a request of a node.
	Challenge() string
	// Answer receives a hint of a node, which proves the shared secret in its Authorization, and returns the sealed
	// answer. The node may read the error.
	Answer(where, backends, authorization string) (sealed string, err error)
}

// Replication exchanges changes of operators with other nodes.
type Replication interface {
	Status() api.Replication
	// Unused lists objects without effect: they refer to missing objects, or the configuration declares an object of the
	// same name. It never returns nil.
	Unused() []api.ReplicationRefused
	// Reached returns the nodes that have the last change. It waits for nodes at most the given time. It returns nil if
	// replication is disabled.
	Reached(ctx context.Context, wait time.Duration) *api.Reached
	// Challenge returns the value of WWW-Authenticate for a request of a node.
	Challenge() string
	// Answer answers the request of a node that proves the shared secret in its Authorization. The answer is encrypted for
	// this node. Answer waits as long as the request specifies. The node may receive the error.
	Answer(ctx context.Context, q replication.Question, authorization string) (sealed string, err error)
}

// getReplication answers GET /replication.
func (s *Server) getReplication(*call) (answer, error) {
	if s.o.Replication == nil {
		return answer{}, notFound("this node has nothing to replicate")
	}
	status := s.o.Replication.Status()
	unused := s.o.Replication.Unused()
	status.Unused, status.UnusedTotal = unused[:min(len(unused), api.MaxUnused)], len(unused)
	return ok(status), nil
}

// getReplicationObjects answers GET /replication/objects, a request of other nodes.
func (s *Server) getReplicationObjects(c *call) (answer, error) {
	if s.o.Replication == nil {
		return answer{}, notFound("this node has nothing to replicate")
	}
	sealed, err := s.encryptForNode(c, s.o.Replication, func(proof string) (string, error) {
		q := replication.Question{Target: c.Request.URL.RequestURI(), Instance: c.query["instance"],
			Hold: c.query["hold"] == "true", Apart: func() func() { return httpserve.Apart(c.Request) }}
		q.Since, _ = strconv.ParseUint(c.query["since"], 10, 64) // validated by the table of operations, as is has
		q.Has, _ = strconv.ParseUint(c.query["has"], 10, 64)
		return s.o.Replication.Answer(c.Request.Context(), q, proof)
	})
	return ok(api.ReplicationObjects{Sealed: sealed}), err
}

// getReplicationHints answers GET /replication/hints, which other nodes send.
func (s *Server) getReplicationHints(c *call) (answer, error) {
	if s.o.Hints == nil {
		return answer{}, notFound("this node exchanges no hints")
	}
	sealed, err := s.encryptForNode(c, s.o.Hints, func(proof string) (string, error) {
		return s.o.Hints.Answer(c.Request.URL.RequestURI(), c.query["backends"], proof)
	})
	return ok(api.ReplicationHints{Sealed: sealed}), err
}

// encryptForNode returns the encrypted result of answer for a node whose Authorization header answers the challenge of
// verifier. It returns "" for a client without this header.
func (s *Server) encryptForNode(
	c *call,
	verifier interface{ Challenge() string },
	answer func(proof string) (string, error),
) (sealed string, err error) {
	c.Header("WWW-Authenticate", verifier.Challenge())
	proof := nodeProof(c)
	if proof == "" {
		return "", nil
	}
	if sealed, err = answer(proof); err != nil {
		s.logUnsealed(c, err)
		return "", problemf(http.StatusUnauthorized, "%s", err)
	}
	return sealed, nil
}

// logUnsealed logs a rejected request of another node. The number of lines is limited, because any client can send such
// requests. The audit log has entries for some of them and counts the others.
func (s *Server) logUnsealed(c *call, reason error) {
	ok, last := s.unsealed.Take(s.o.Now())
	if !ok {
		return
	}
	message := "a request of another node was refused"
	if last {
		message += "; the audit log contains further refusals of the next ten minutes"
	}
	s.log.Warn().Str("request_id", c.id).Stringer("client", c.client).Str("path", c.Request.URL.Path).
		Str("reason", reason.Error()).Msg(message)
}
