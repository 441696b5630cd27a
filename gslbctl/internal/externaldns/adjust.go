package externaldns

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
)

// nodeState is the state of the nodes that endpoints are compared with.
type nodeState struct {
	doc     api.Document
	scope   model.TokenScope // of the token
	zones   []string
	regions []string             // nil: unknown
	records map[string]*endpoint // records of the owner, by key
	others  map[serverID]string  // owners of all other servers, for error messages
	own     map[serverID]string  // regions of the owner's servers
}

// readState requests the state that endpoints are compared with from a node.
func (p *Provider) readState(ctx context.Context, node *api.Client, list []*endpoint) (k nodeState, err error) {
	k = nodeState{records: map[string]*endpoint{}, others: map[serverID]string{}, own: map[serverID]string{}}
	if err := p.readPlaces(ctx, node, &k); err != nil {
		return k, err
	}
	doc, err := node.Document(ctx)
	if err != nil {
		return k, err
	}
	k.doc = doc
	for _, e := range recordsOf(doc, p.Owner) {
		k.records[e.key()] = e
	}
	for _, s := range doc.Servers {
		if owner := s.Text("owner"); owner != p.Owner {
			k.others[idOf(s)] = fmt.Sprintf("the owner %q", owner)
		} else {
			k.own[idOf(s)] = s.Text("region")
		}
	}
	if len(k.zones) == 0 && !k.scope.IsLimited() {
		if err := k.askNames(ctx, node); err != nil {
			return k, err
		}
	}
	if slices.ContainsFunc(list, func(e *endpoint) bool {
		name, err := canonical(e.DNSName)
		return err == nil && !hasDomain(doc, name)
	}) {
		err = k.askFile(ctx, node) // the name is new, or in the configuration file
	}
	return k, err
}

// readPlaces requests the zones and the regions. A token with limits of objects has no access to them: its scope then
// contains the zones, and the regions if it limits them.
func (p *Provider) readPlaces(ctx context.Context, node *api.Client, k *nodeState) error {
	id, err := node.Identity(ctx)
	if isStatus(err, http.StatusNotFound) {
		id, err = api.Identity{}, nil // the node has a previous version, whose tokens have no limits
	}
	if err != nil {
		return err
	}
	if k.scope = id.Scope; k.scope.IsLimited() {
		return p.placesOfScope(id.Name, k)
	}
	settings, err := node.DNSConfig(ctx)
	if err != nil {
		return err
	}
	k.zones = settings.Config.Zones
	regions, err := node.Regions(ctx)
	k.regions = make([]string, 0, len(regions.Regions))
	for i := range regions.Regions {
		k.regions = append(k.regions, regions.Regions[i].ID)
	}
	return err
}

// placesOfScope sets the zones and regions that the scope of a token allows.
func (p *Provider) placesOfScope(token string, k *nodeState) error {
	owners := k.scope.Owners
	if len(owners) > 0 && !slices.Contains(owners, p.Owner) {
		return fmt.Errorf("the token %s is limited to the owners %s, and --owner is %s: create it with --scope-owners %s",
			token, strings.Join(owners, ", "), p.Owner, p.Owner)
	}
	for _, name := range slices.Concat(k.scope.Zones, k.scope.Names) {
		k.zones = append(k.zones, strings.TrimPrefix(name, "*."))
	}
	if len(k.zones) == 0 {
		return fmt.Errorf("the token %s has limits, and none of them is a zone: create it with --scope-zones", token)
	}
	k.regions = slices.Clone(k.scope.Regions)
	return nil
}

// domainOwner returns the owner of the names that the Provider creates. Only a token that is limited to owners needs
// one; other names have no owner, so that an operator can take them over.
func (k *nodeState) domainOwner(owner string) string {
	if len(k.scope.Owners) > 0 {
		return owner
	}
	return ""
}

// askNames adds each domain as a separate zone, because a node without configured zones serves it this way.
func (k *nodeState) askNames(ctx context.Context, node *api.Client) error {
	names, err := node.Domains(ctx)
	for i := range names.Domains {
		k.zones = append(k.zones, names.Domains[i].Name)
	}
	return err
}

// askFile adds the servers of the configuration file. A document cannot change these servers.
func (k *nodeState) askFile(ctx context.Context, node *api.Client) error {
	servers, err := node.Servers(ctx)
	for i := range servers.Servers {
		if s := &servers.Servers[i]; s.Source == api.SourceStatic {
			k.others[serverID{s.Service, cmp.Or(s.Target, s.Address), s.Port}] = "the configuration file of the nodes"
		}
	}
	return err
}

// adjust returns the endpoints in the form of the records, so that ExternalDNS changes only real differences.
func (p *Provider) adjust(ctx context.Context, list []*endpoint) ([]*endpoint, error) {
	node, err := p.Node(ctx)
	if err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(e *endpoint) bool { return e == nil })
	k, err := p.readState(ctx, node, list)
	if err != nil {
		return nil, err
	}
	adjusted, problems, err := p.validate(ctx, node, &k, list)
	if err != nil {
		return nil, err
	}
	p.logNewProblems(problems, true)
	return adjusted, nil
}

// validate returns the valid endpoints in canonical form, and the reasons for each omission. It applies the rules of
// wanted and then the rules of the node. If an endpoint has an invalid region or port, validate returns the current
// records of the endpoint.
func (p *Provider) validate(ctx context.Context, node *api.Client, k *nodeState, list []*endpoint) ([]*endpoint,
	map[string]bool, error) {
	problems := map[string]bool{}
	adjusted, byKey := []*endpoint{}, map[string]*endpoint{}
	for _, e := range list {
		wanted, reasons := p.wanted(e, k)
		if first := byKey[keyOf(wanted)]; first != nil {
			reasons = append(reasons, merge(first, wanted))
		} else if wanted != nil {
			byKey[wanted.key()], adjusted = wanted, append(adjusted, wanted)
		}
		for _, reason := range reasons {
			if reason != nil {
				problems[problemOf(e, reason)] = true
			}
		}
	}
	t := trial{node: node, owner: p.Owner, state: k, problems: problems, isNew: map[string]bool{}}
	if err := t.plan(ctx, k.candidates(adjusted)); err != nil {
		return nil, nil, err
	}
	adjusted = slices.DeleteFunc(adjusted, func(e *endpoint) bool { return len(e.Targets) == 0 })
	return adjusted, problems, nil
}

// problemOf returns the log message about an endpoint.
func problemOf(e *endpoint, reason error) string {
	return fmt.Sprintf("%.260q %.10q: %v", e.DNSName, e.RecordType, reason)
}

func keyOf(e *endpoint) string {
	if e == nil {
		return ""
	}
	return e.key()
}

// merge adds the targets of another endpoint with the same name and type.
func merge(first, other *endpoint) error {
	if !slices.Equal(first.ProviderSpecific, other.ProviderSpecific) {
		return errors.New("another resource of this cluster gives the name another region or port: give both the same")
	}
	for _, target := range other.Targets {
		if !slices.Contains(first.Targets, target) {
			first.Targets = append(first.Targets, target)
		}
	}
	return nil
}

// logNewProblems logs the problems that are not in the last complete list. complete means that problems covers all
// endpoints, and not only a change.
func (p *Provider) logNewProblems(problems map[string]bool, complete bool) {
	p.telling.Lock()
	defer p.telling.Unlock()
	for problem := range problems {
		if !p.told[problem] {
			p.Log.Warn("an endpoint is left as it was", "endpoint", problem)
		}
	}
	if complete {
		p.told = problems
	}
}

// wanted returns an endpoint in canonical form with its valid targets, and the reasons for omitted targets. It returns
// nil if there is no valid target.
func (p *Provider) wanted(e *endpoint, k *nodeState) (*endpoint, []error) {
	name, err := canonical(e.DNSName)
	if err != nil {
		return nil, []error{err}
	}
	made := &endpoint{DNSName: name, RecordType: e.RecordType}
	switch {
	case !e.isServerType():
		err = fmt.Errorf("nodes take no %.20q records of ExternalDNS, only A, AAAA and CNAME", e.RecordType)
	case !within(k.zones, name):
		err = fmt.Errorf("it is outside every zone of the nodes (%s): add its zone to dns.zones, or the name itself",
			strings.Join(k.zones[:min(len(k.zones), 10)], ", "))
	}
	if err != nil {
		return nil, []error{err}
	}
	port, err := p.place(made, e, k)
	if err != nil {
		return k.records[made.key()], []error{err}
	}
	var problems []error
	for _, target := range e.Targets {
		host, err := parseTarget(target, e.RecordType)
		if err == nil && e.RecordType == typeName && within(k.zones, host) {
			err = fmt.Errorf("its target is %.260q, in a zone of the nodes, so it may lead to itself: give the name "+
				"of the "+
				"servers behind it", host)
		}
		if owner, taken := k.others[serverID{name, host, port}]; err == nil && taken {
			err = fmt.Errorf("the server %s port %d belongs to %s", host, port, owner)
		}
		if err != nil {
			problems = append(problems, err)
			continue
		}
		made.Targets = append(made.Targets, host)
	}
	if len(made.Targets) == 0 {
		return nil, append(problems, errors.New("it has no target that can be a server"))
	}
	return made, problems
}

// place sets the region and the port of e from the annotations or the flags, and adds e to made. It returns the port.
func (p *Provider) place(made, e *endpoint, k *nodeState) (port int, err error) {
	region := cmp.Or(e.region(), p.Region)
	if k.regions != nil && !slices.Contains(k.regions, region) && (region != "" || len(k.regions) > 0) {
		return 0, fmt.Errorf("its region is %.64q: it must be one of %s, in the annotation webhook-gslb-region or in "+
			"--region", region, strings.Join(k.regions, ", "))
	}
	port = p.Port
	if e.property(propertyPort) != "" {
		if port, err = e.port(); err != nil {
			return 0, err
		}
	}
	made.setProperties(region, port)
	return port, nil
}
