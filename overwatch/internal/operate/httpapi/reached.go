package httpapi

import (
	"bytes"
	"encoding/json"
	"time"

	"gslb.internal/shared/api"
)

// waitForPeers is the name of the parameter of changes that reach every node.
const waitForPeers = "wait_for_peers"

// withWait adds the parameter waitForPeers to operations with replicated changes.
func withWait(list []Operation) []Operation {
	for i := range list {
		if !list[i].Replicates() {
			continue
		}
		p := text(waitForPeers, "how long to wait for the other nodes to have the change, such as 5s", "5s")
		p.check = func(text string) error {
			if wait, err := time.ParseDuration(text); err != nil || wait < 0 || wait > api.MaxWaitForPeers {
				return badRequest("%s is %.64q: it must be a duration from 0s to %s, such as 5s", waitForPeers, text,
					api.MaxWaitForPeers)
			}
			return nil
		}
		list[i].Query = append(append([]Parameter{}, list[i].Query...), p)
	}
	return list
}

// withReached adds to the answer the nodes that have stored the change. It waits for nodes as long as the request
// specifies.
func (s *Server) withReached(c *call, a answer) answer {
	if !c.operation.Replicates() || s.o.Replication == nil || a.status >= 300 {
		return a
	}
	wait, _ := time.ParseDuration(c.query[waitForPeers]) // checked by the table
	reached := s.o.Replication.Reached(c.Request.Context(), wait)
	if reached != nil && a.body != nil {
		a.body = reachedBody{a.body, reached}
	}
	return a
}

// reachedBody is the body of an answer, a JSON object, with the additional field replication.
type reachedBody struct {
	body    any
	reached *api.Reached
}

// MarshalJSON implements json.Marshaler.
func (b reachedBody) MarshalJSON() ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(b.body); err != nil {
		return nil, err
	}
	reached, err := json.Marshal(b.reached)
	whole, isObject := bytes.CutSuffix(bytes.TrimSpace(text.Bytes()), []byte("}"))
	if err != nil || !isObject {
		return text.Bytes(), err
	}
	if len(whole) > 1 {
		whole = append(whole, ',')
	}
	return append(append(append(whole, `"replication":`...), reached...), '}'), nil
}
