package externaldns

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"gslb.internal/shared/api"
)

// candidate is a name with its servers that are new or changed for the node.
type candidate struct {
	name      string
	endpoints []*endpoint
	servers   []api.DocumentServer
}

// candidates groups the new servers of endpoints by name.
func (k *nodeState) candidates(list []*endpoint) []*candidate {
	var all []*candidate
	byName := map[string]*candidate{}
	for _, e := range list {
		for _, s := range e.servers("") {
			if region, there := k.own[idOf(s)]; there && region == s.Text("region") {
				continue
			}
			c := byName[e.DNSName]
			if c == nil {
				c = &candidate{name: e.DNSName}
				byName[e.DNSName], all = c, append(all, c)
			}
			if !slices.Contains(c.endpoints, e) {
				c.endpoints = append(c.endpoints, e)
			}
			c.servers = append(c.servers, s)
		}
	}
	return all
}

// refuse removes a server from the candidate and from its endpoint, and adds the reason to the problems.
func (c *candidate) refuse(s api.DocumentServer, reason error, problems map[string]bool) {
	c.servers = slices.DeleteFunc(c.servers, func(other api.DocumentServer) bool { return idOf(other) == idOf(s) })
	for _, e := range c.endpoints {
		if e.RecordType == typeOf(s) && slices.Contains(e.Targets, hostOf(s)) {
			e.Targets = slices.DeleteFunc(e.Targets, func(target string) bool { return target == hostOf(s) })
			problems[problemOf(e, reason)] = true
		}
	}
}

// maxTrialPlans is the maximum number of plans that a node computes for one list of endpoints. Each rejected name needs
// about log2(number of new names) plans.
const maxTrialPlans = 200

// trial finds the new names and servers that a node rejects. It changes no object.
type trial struct {
	node     *api.Client
	owner    string
	state    *nodeState
	problems map[string]bool // trial adds the reasons of the node
	isNew    map[string]bool // answers of isNewName
	plans    int
}

// plan sends the candidates to the node as a plan, and removes the rejected servers. If an error names no object, plan
// retries with each half of the group. It returns an error if the node is unreachable or busy, or after maxTrialPlans.
func (t *trial) plan(ctx context.Context, group []*candidate) error {
	group = slices.DeleteFunc(slices.Clone(group), func(c *candidate) bool { return len(c.servers) == 0 })
	if len(group) == 0 {
		return nil
	}
	if t.plans++; t.plans > maxTrialPlans {
		return fmt.Errorf("the node refuses more names than %d plans can find: correct the endpoints in the log first",
			maxTrialPlans)
	}
	doc, err := t.document(ctx, group)
	if err != nil {
		return err
	}
	_, err = t.node.Plan(ctx, api.ApplyRequest{Document: doc, Owner: t.owner})
	refusal, isAnswer := errors.AsType[*api.Error](err)
	switch {
	case err == nil:
		return nil
	case !isAnswer || refusal.Status != http.StatusBadRequest &&
		(refusal.Status != http.StatusConflict || len(refusal.Problems) == 0):
		return err
	case t.refuseNamed(group, &doc, refusal.Problems):
		return t.plan(ctx, group)
	case len(group) == 1:
		for _, s := range slices.Clone(group[0].servers) {
			group[0].refuse(s, fmt.Errorf("the node refuses the name: %s", refusal.Message), t.problems)
		}
		return nil
	}
	half := len(group) / 2
	if err := t.plan(ctx, group[:half]); err != nil {
		return err
	}
	return t.plan(ctx, group[half:])
}

// document returns the objects of candidates, including the new names.
func (t *trial) document(ctx context.Context, group []*candidate) (doc api.Document, err error) {
	for _, c := range group {
		isNew, asked := t.isNew[c.name]
		if !asked {
			if isNew, err = t.state.isNewName(ctx, t.node, c.name, t.owner); err != nil {
				return doc, err
			}
			t.isNew[c.name] = isNew
		}
		if isNew {
			doc.Domains = append(doc.Domains, newName(c.name, t.state.domainOwner(t.owner)))
		}
		doc.Servers = append(doc.Servers, c.servers...)
	}
	return doc, nil
}

// refuseNamed removes the objects of doc that problems names from the candidates. found is true if it removed an
// object.
func (t *trial) refuseNamed(group []*candidate, doc *api.Document, problems []api.DocumentProblem) (found bool) {
	for _, problem := range problems {
		reason := fmt.Errorf("the node refuses it: %s", problem.Problem)
		var servers []api.DocumentServer
		var n int
		if _, err := fmt.Sscanf(problem.Object, "servers[%d]", &n); err == nil && n >= 0 && n < len(doc.Servers) {
			servers = doc.Servers[n : n+1]
		} else if _, err := fmt.Sscanf(problem.Object, "domains[%d]",
			&n); err == nil && n >= 0 && n < len(doc.Domains) {
			servers = slices.DeleteFunc(slices.Clone(doc.Servers), func(s api.DocumentServer) bool {
				return s.Text("service") != doc.Domains[n].Text("name")
			})
		}
		for _, s := range servers {
			i := slices.IndexFunc(group, func(c *candidate) bool { return c.name == s.Text("service") })
			group[i].refuse(s, reason, t.problems)
			found = true
		}
	}
	return found
}
