package replication

// Reachable is a node that answers.
type Reachable struct {
	Node string // authenticated id of the node
	URL  string // of its API
}

// Reachable lists the other nodes that answer at present.
func (r *Replication) Reachable() (list []Reachable) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.peers {
		if p.connected && !p.self && p.node != "" {
			list = append(list, Reachable{Node: p.node, URL: p.url})
		}
	}
	return list
}
