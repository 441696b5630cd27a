package externaldns

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"gslb.internal/gslbctl/internal/manifest"
	"gslb.internal/shared/api"
)

// Tag marks the names that a Provider has created. The Provider deletes such a name with its last server.
const Tag = "external-dns"

// apply makes the changes of a request, without the endpoints that validate omits. The owner's servers change together
// or not at all. apply first creates new names in a separate change, because all clusters share a name.
func (p *Provider) apply(ctx context.Context, c changes) error {
	p.changing.Lock()
	defer p.changing.Unlock()
	node, err := p.Node(ctx)
	if err != nil {
		return err
	}
	list := slices.DeleteFunc(slices.Concat(c.Create, c.UpdateNew), func(e *endpoint) bool {
		return e.RecordType == "TXT" // of the TXT registry, which is not needed: nodes know the owner of a server
	})
	k, err := p.readState(ctx, node, list)
	if err != nil {
		return err
	}
	valid, problems, err := p.validate(ctx, node, &k, list)
	if err != nil {
		return err
	}
	p.logNewProblems(problems, false)
	removed := slices.Concat(c.Delete, withNew(c.UpdateOld, valid))
	made, err := p.makeNames(ctx, node, &k, valid)
	if err != nil {
		return err
	}
	if k.domainOwner(p.Owner) != "" {
		k.doc.Domains = append(k.doc.Domains, made...) // the owner's document has them from now on
	}
	if err := p.applyServers(ctx, node, p.document(k.doc, removed, valid)); err != nil {
		return err
	}
	p.removeNames(ctx, node, &k, removed)
	return nil
}

// withNew returns the members of old that have a replacement in valid: the same canonical name and type.
func withNew(old, valid []*endpoint) []*endpoint {
	return slices.DeleteFunc(slices.Clone(old), func(e *endpoint) bool {
		name, err := canonical(e.DNSName)
		return err != nil || !slices.ContainsFunc(valid, func(v *endpoint) bool {
			return v.DNSName == name && v.RecordType == e.RecordType
		})
	})
}

// document returns the owner's objects after the removal of some endpoints and the addition of valid endpoints.
// Remaining servers keep settings that ExternalDNS does not know, such as a weight.
func (p *Provider) document(doc api.Document, removed, valid []*endpoint) api.Document {
	wanted := manifest.OwnedBy(doc, p.Owner)
	before := map[serverID]api.DocumentServer{}
	for _, s := range wanted.Servers {
		before[idOf(s)] = s
	}
	for _, e := range removed {
		name := strings.ToLower(strings.TrimSuffix(e.DNSName, "."))
		wanted.Servers = slices.DeleteFunc(wanted.Servers, func(s api.DocumentServer) bool {
			return e.RecordType == typeOf(s) && s.Text("service") == name && slices.Contains(e.Targets, hostOf(s))
		})
	}
	for _, e := range valid {
		for _, s := range e.servers(p.Owner) {
			id := idOf(s)
			if was, there := before[id]; there {
				was = maps.Clone(was)
				was["region"], s = s.Text("region"), was
			}
			wanted.Servers = slices.DeleteFunc(wanted.Servers, func(s api.DocumentServer) bool { return idOf(s) == id })
			wanted.Servers = append(wanted.Servers, s)
		}
	}
	return wanted
}

// makeNames creates the missing names of endpoints, with Tag, and returns them.
func (p *Provider) makeNames(ctx context.Context, node *api.Client, k *nodeState, list []*endpoint) (
	[]api.DocumentDomain, error) {
	var missing api.Document
	for _, e := range list {
		if hasDomain(missing, e.DNSName) {
			continue
		}
		isNew, err := k.isNewName(ctx, node, e.DNSName, p.Owner)
		if err != nil {
			return nil, err
		}
		if isNew {
			missing.Domains = append(missing.Domains, newName(e.DNSName, k.domainOwner(p.Owner)))
		}
	}
	if len(missing.Domains) == 0 {
		return nil, nil
	}
	_, err := node.Apply(ctx, api.ApplyRequest{Document: missing})
	return missing.Domains, err
}

// isNewName reports whether neither the document nor the configuration file contains a name. A token that is
// limited to owners cannot ask for other names: the plan of the new name then decides.
func (k *nodeState) isNewName(ctx context.Context, node *api.Client, name, owner string) (bool, error) {
	if hasDomain(k.doc, name) {
		return false, nil
	}
	_, err := node.Domain(ctx, name)
	if k.domainOwner(owner) != "" && isStatus(err, http.StatusForbidden) {
		planned := api.Document{Domains: []api.DocumentDomain{newName(name, owner)}}
		_, err = node.Plan(ctx, api.ApplyRequest{Document: planned, Owner: owner})
		switch {
		case isStatus(err, http.StatusForbidden): // a name of another owner
			return false, nil
		case isStatus(err, http.StatusBadRequest): // the trial finds the reason
			return true, nil
		}
		return err == nil, err
	}
	if isStatus(err, http.StatusNotFound) {
		return true, nil
	}
	return false, err
}

func isStatus(err error, status int) bool {
	refused, ok := errors.AsType[*api.Error](err)
	return ok && refused.Status == status
}

// newName returns the domain that a Provider creates for a name. An empty owner means none.
func newName(name, owner string) api.DocumentDomain {
	d := api.DocumentDomain{"name": name, "tags": []string{Tag}}
	if owner != "" {
		d["owner"] = owner
	}
	return d
}

func hasDomain(doc api.Document, name string) bool {
	return slices.ContainsFunc(doc.Domains, func(d api.DocumentDomain) bool { return d.Text("name") == name })
}

// applyServers applies the owner's document. Names may lose all their servers, because ExternalDNS has decided so.
// Without Force, the node rejects a change of a large part of the owner's objects: the API server of the cluster may
// report an incomplete state.
func (p *Provider) applyServers(ctx context.Context, node *api.Client, wanted api.Document) error {
	req := api.ApplyRequest{Document: wanted, Owner: p.Owner, Prune: true}
	plan, err := node.Plan(ctx, req)
	if err != nil {
		return err
	}
	losses := 0
	if len(plan.Answers.Losses)+plan.Answers.HiddenLosses > 0 {
		losses = 1 // one reason for all of them
	}
	if len(plan.Force) > losses && !p.Force {
		return fmt.Errorf("nothing was changed: %s: start gslbctl external-dns with --force to allow it",
			plan.Force[0])
	}
	req.Force = true
	plan, err = node.Apply(ctx, req)
	for _, change := range plan.Changes {
		p.Log.Info("changed", "action", string(change.Action), "kind", change.Kind, "id", change.ID)
	}
	return err
}

// removeNames deletes the names that a Provider has created and that no longer have a backend.
func (p *Provider) removeNames(ctx context.Context, node *api.Client, k *nodeState, list []*endpoint) {
	seen := map[string]bool{}
	for _, e := range list {
		name, err := canonical(e.DNSName)
		if err != nil || seen[name] || !k.made(name, p.Owner) {
			continue
		}
		seen[name] = true
		if err := removeUnused(ctx, node, name); err != nil {
			p.Log.Warn("a name without servers stays: remove it with gslbctl domains remove", "name", name, "error",
				err)
		}
	}
}

// removeUnused deletes a name without backends. A name with a server with a host name stays, because the server may
// still be unresolved.
func removeUnused(ctx context.Context, node *api.Client, name string) error {
	now, err := node.Domain(ctx, name)
	if err != nil || now.Domain.BackendCount > 0 {
		return err
	}
	list, err := node.Servers(ctx)
	if err != nil || slices.ContainsFunc(list.Targets, func(t api.ServerTarget) bool { return t.Service == name }) {
		return err
	}
	return node.DeleteDomain(ctx, name)
}

// made reports whether a Provider of the owner has created a name and no operator has taken it over.
func (k *nodeState) made(name, owner string) bool {
	return slices.ContainsFunc(k.doc.Domains, func(d api.DocumentDomain) bool {
		return d.Text("name") == name && d.Text("owner") == k.domainOwner(owner) && slices.Contains(d.Texts("tags"), Tag)
	})
}
