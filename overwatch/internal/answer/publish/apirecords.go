package publish

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/answer/zone"
	"gslb.internal/overwatch/internal/leaf/shardmap"
	"gslb.internal/overwatch/internal/state/zonefile"
	"gslb.internal/shared/model"
)

// Omitted contains the records of the API that are not served, by their key, with the reason.
type Omitted = shardmap.Map[string]

// Omitted returns the records of the API that the current view does not serve. It is safe for concurrent use.
func (p *Publisher) Omitted() *Omitted { return p.omitted.Load() }

// apiRecords are the records of the API of a plan. Successive plans share them.
type apiRecords struct {
	owners  *shardmap.Map[*ownerRecords] // by fqdn
	omitted *Omitted
	ttls    map[uint32]int // number of served records by TTL
}

// ownerRecords are the records of the API at a name. It is immutable.
type ownerRecords struct {
	all   []apiRecord // by key
	zone  string      // apex; "" outside all zones
	added *zone.NameRecords
}

// apiRecord is a record of the API.
type apiRecord struct {
	from    *model.Record
	rr      dns.RR // nil if the record cannot be parsed
	omitted string // the reason; "" if the record is served
}

// planRecords adds the records of the API to the zones. It places the records of a name again if one of them, or the
// load-balanced name, or the configured records of the zone changed since the previous plan.
func (p *plan) planRecords(before *plan) {
	if p.settings.Records.Len() == 0 && before.api.owners.Len() == 0 {
		return
	}
	r := &recordPlan{plan: p, before: &before.api, edited: make(map[string]bool)}
	touched := r.touched(before)
	p.api.owners, p.api.omitted = p.api.owners.Edit(), p.api.omitted.Edit()
	if p.api.ttls = maps.Clone(p.api.ttls); p.api.ttls == nil {
		p.api.ttls = make(map[uint32]int)
	}
	var aliases []*apiRecord
	for owner := range touched {
		aliases = append(aliases, r.place(owner)...)
	}
	if p.settings.RefuseOmitted && len(aliases) > 0 {
		leading := p.aliasesByTarget()
		for _, a := range aliases {
			p.checkAddedAlias(a, leading)
		}
	}
}

// recordPlan is a planning of records of the API.
type recordPlan struct {
	*plan
	before *apiRecords
	edited map[string]bool // zones with their own map of records
}

// touched returns the names whose records must be placed. It sets the records of the plan and of its zones to the
// records of the previous plan, or to none if the zones differ.
func (r *recordPlan) touched(before *plan) map[string]bool {
	touched := make(map[string]bool)
	if r.relaid || before.api.owners == nil {
		for i := range r.zones {
			z := r.changeableZone(i)
			z.Added, z.version.added = nil, sum{}
		}
		for _, record := range r.settings.Records.All() {
			touched[fqdn(record.Name)] = true
		}
		return touched
	}
	r.api = before.api
	for key := range shardmap.Changes(before.settings.Records, r.settings.Records) {
		name, _, _ := strings.Cut(key, " ")
		touched[fqdn(name)] = true
	}
	for _, z := range r.zones {
		if z.plan != r.plan || before.byApex[z.Apex] == nil || z.kept {
			continue
		}
		for name, owner := range r.api.owners.All() {
			if owner.zone == z.Apex {
				touched[name] = true
			}
		}
	}
	for _, e := range r.edits {
		for _, names := range [][]string{e.come, e.gone, e.renewed} {
			for _, name := range names {
				if r.api.owners.Get(name) != nil {
					touched[name] = true
				}
			}
		}
	}
	return touched
}

// place places the records of a name. It returns the aliases that the previous plan did not serve.
func (r *recordPlan) place(owner string) (aliases []*apiRecord) {
	was := r.before.owners.Get(owner)
	if was != nil && r.api.owners.Get(owner) == was {
		r.remove(owner, was)
	}
	next := r.placed(owner, was)
	if next == nil {
		return nil
	}
	r.api.owners.Put(owner, next)
	for i := range next.all {
		a := &next.all[i]
		isNew := !slices.ContainsFunc(was.records(), func(b apiRecord) bool {
			return b.from == a.from && (b.omitted == "") == (a.omitted == "")
		})
		if a.omitted != "" {
			r.api.omitted.Put(a.from.Key(), a.omitted)
			if isNew && r.settings.RefuseOmitted && r.settings.Omitted.Get(a.from.Key()) == "" {
				r.wrong("records", a.from.Key(), "%s", a.omitted)
			}
			continue
		}
		r.api.ttls[a.rr.Header().Ttl]++
		if isNew && a.rr.Header().Rrtype == dns.TypeCNAME {
			aliases = append(aliases, a)
		}
	}
	if next.added != nil {
		z := r.edit(next.zone)
		z.Added.Put(owner, next.added)
		for _, rr := range next.added.Records {
			z.version.added.add(rr.String(), 1)
		}
	}
	return aliases
}

// records returns the records, nil for a nil owner.
func (o *ownerRecords) records() []apiRecord {
	if o == nil {
		return nil
	}
	return o.all
}

// remove removes the records of a name, as the previous plan placed them.
func (r *recordPlan) remove(owner string, was *ownerRecords) {
	r.api.owners.Delete(owner)
	for i := range was.all {
		if a := &was.all[i]; a.omitted != "" {
			r.api.omitted.Delete(a.from.Key())
		} else if ttl := a.rr.Header().Ttl; r.api.ttls[ttl] > 1 {
			r.api.ttls[ttl]--
		} else {
			delete(r.api.ttls, ttl)
		}
	}
	if was.added == nil || r.byApex[was.zone] == nil {
		return
	}
	z := r.edit(was.zone)
	z.Added.Delete(owner)
	for _, rr := range was.added.Records {
		z.version.added.add(rr.String(), -1)
	}
}

// edit returns a zone with a map of records that the plan may change.
func (r *recordPlan) edit(apex string) *zonePlan {
	z := r.byApex[apex]
	if !r.edited[apex] {
		r.edited[apex] = true
		z = r.changeableZone(slices.Index(r.zones, z))
		z.Added = z.Added.Edit()
	}
	return z
}

// placed returns the records of a name with the decision about each record; nil without records. The decision depends
// on the records, not on the order of their arrival, so that all nodes with the same configuration serve the same
// records. was may have parsed records.
func (r *recordPlan) placed(owner string, was *ownerRecords) *ownerRecords {
	text := owner
	if text != "." {
		text = strings.TrimSuffix(text, ".")
	}
	next := new(ownerRecords)
	z := r.enclosing(owner)
	if z != nil {
		next.zone = z.Apex
	}
	for _, from := range r.settings.Records.Beside(text) {
		a := apiRecord{from: from}
		if at := slices.IndexFunc(was.records(), func(b apiRecord) bool { return b.from == from }); at >= 0 {
			a.rr = was.all[at].rr
		}
		a.omitted = r.exclusion(z, owner, &a)
		next.all = append(next.all, a)
	}
	if len(next.all) == 0 {
		return nil
	}
	slices.SortFunc(next.all, func(a, b apiRecord) int {
		return cmp.Or(strings.Compare(a.from.Type, b.from.Type), strings.Compare(a.from.Data, b.from.Data))
	})
	next.omitAliases()
	if z != nil {
		next.omitLarge(z.Apex)
	}
	for i := range next.all {
		if a := &next.all[i]; a.omitted == "" {
			if next.added == nil {
				next.added = new(zone.NameRecords)
			}
			next.added.Records = append(next.added.Records, a.rr)
		}
	}
	return next
}

// exclusion parses a record if necessary, and returns the reason why the configuration excludes it, "" for a valid
// record.
func (r *recordPlan) exclusion(z *zonePlan, owner string, a *apiRecord) string {
	if a.rr == nil {
		rr, err := zonefile.Parse(a.from.Name, a.from.Type, a.from.Data, uint32(max(a.from.TTL, 0)))
		if err != nil {
			return err.Error()
		}
		a.rr = rr
	}
	if z == nil {
		return fmt.Sprintf("no zone of this node has the name %s: add its zone to dns.zones", owner)
	}
	if why := r.refusal(z, a.rr); why != "" {
		return why
	}
	if rtype := a.rr.Header().Rrtype; slices.Contains(z.types[owner], rtype) {
		return fmt.Sprintf("the configuration of this node has records of %s with the type %s, which take precedence: "+
			"change them there", owner, dns.Type(rtype))
	}
	return ""
}

// omitAliases omits the aliases of a name with other records, or all aliases except the latest (RFC 1034 section
// 3.6.2).
func (o *ownerRecords) omitAliases() {
	var latest *apiRecord
	var other *apiRecord
	for i := range o.all {
		switch a := &o.all[i]; {
		case a.omitted != "":
		case a.rr.Header().Rrtype != dns.TypeCNAME:
			other = a
		case latest == nil || a.from.UpdatedAt.Compare(latest.from.UpdatedAt) >= 0:
			latest = a
		}
	}
	for i := range o.all {
		a := &o.all[i]
		if a.omitted != "" || a.rr.Header().Rrtype != dns.TypeCNAME {
			continue
		}
		if other != nil {
			a.omitted = fmt.Sprintf("%s has the record %.300q, and an alias has no other records (RFC 1034 section 3.6.2); "+
				"delete one of them", a.from.Name, other.from.Key())
		} else if a != latest {
			a.omitted = fmt.Sprintf("%s has the record %.300q, and a name has one alias (RFC 2181 section 10.1); "+
				"delete one of them", a.from.Name, latest.from.Key())
		}
	}
}

// omitLarge omits the records of a type that exceed the size of an answer.
func (o *ownerRecords) omitLarge(apex string) {
	for from := 0; from < len(o.all); {
		to, octets := from, 0
		var set []dns.RR
		for ; to < len(o.all) && o.all[to].from.Type == o.all[from].from.Type; to++ {
			if a := &o.all[to]; a.omitted == "" {
				octets += dns.Len(a.rr)
				set = append(set, a.rr)
			}
		}
		if octets > zone.MaxSet && zone.CheckFits(apex, set) != nil {
			octets = 0
			for i := from; i < to; i++ {
				a := &o.all[i]
				if a.omitted == "" {
					octets += dns.Len(a.rr)
				}
				if a.omitted == "" && octets > zone.MaxSet {
					a.omitted = fmt.Sprintf("the records of %s with the type %s exceed the size of an answer (%d octets): "+
						"delete some", a.from.Name, a.from.Type, zone.MaxSet)
				}
			}
		}
		from = to
	}
}

// aliasOf returns the target of the alias with a name, which records of the API or the configuration have.
func (p *plan) aliasOf(name string) (target string, there bool) {
	if o := p.api.owners.Get(name); o != nil && o.added != nil {
		if alias, is := o.added.Records[0].(*dns.CNAME); is {
			return fqdn(alias.Target), true
		}
	}
	if z := p.enclosing(name); z != nil {
		target, there = z.aliases[name]
	}
	return target, there
}

// checkAddedAlias adds a problem for an alias of the API that closes a circle or makes a chain longer than the maximum,
// because the answer of such a chain is SERVFAIL.
func (p *plan) checkAddedAlias(a *apiRecord, leading map[string][]string) {
	owner := fqdn(a.rr.Header().Name)
	chain := []string{owner}
	for name, more := p.aliasOf(owner); more; name, more = p.aliasOf(name) {
		if slices.Contains(chain, name) {
			p.wrong("records", a.from.Key(), "aliases in a circle (%s): no address is ever found; let one of them lead out "+
				"of it", strings.Join(append(chain, name), ", "))
			return
		}
		target, isAlias := p.aliasOf(name)
		if !isAlias {
			break
		}
		if chain = append(chain, name); len(chain) > zone.MaxAliases {
			p.wrong("records", a.from.Key(), "more than %d aliases in a row, so the answer would be SERVFAIL; let it lead to "+
				"%s directly", zone.MaxAliases, target)
			return
		}
	}
	names := []string{owner}
	for length := len(chain); len(names) > 0; length++ {
		if length > zone.MaxAliases {
			p.wrong("records", a.from.Key(), "other aliases lead to %s, and then there would be more than %d aliases in a "+
				"row, so their answer would be SERVFAIL", owner, zone.MaxAliases)
			return
		}
		var next []string
		for _, name := range names {
			next = append(next, leading[name]...)
		}
		names = next
	}
}

// aliasesByTarget returns the names of the aliases by the name that they lead to. All added aliases share it, so that a
// change with many aliases reads the aliases once.
func (p *plan) aliasesByTarget() map[string][]string {
	found := make(map[string][]string)
	for owner, o := range p.api.owners.All() {
		if o.added == nil {
			continue
		}
		if alias, is := o.added.Records[0].(*dns.CNAME); is {
			found[fqdn(alias.Target)] = append(found[fqdn(alias.Target)], owner)
		}
	}
	for _, z := range p.zones {
		for owner, target := range z.aliases {
			found[target] = append(found[target], owner)
		}
	}
	return found
}

// longest returns the longest TTL of the served records.
func (r *apiRecords) longest() (ttl uint32) {
	for one := range r.ttls {
		ttl = max(ttl, one)
	}
	return ttl
}
