package dnsupdate

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/control/fault"
	"gslb.internal/overwatch/internal/control/operations"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/overwatch/internal/state/zonefile"
	"gslb.internal/shared/model"
)

// rejection is the reason why a message is rejected, with its response code. The audit log has no entry of it.
type rejection struct {
	code  int
	fault *fault.Error
}

func (r *rejection) Error() string { return r.fault.Text }

func (r *rejection) Unwrap() error { return r.fault }

func reject(code int, format string, args ...any) error {
	return &rejection{code, fault.Conflictf(format, args...)}
}

// codeOf returns the response code of an error of a change.
func codeOf(err error) int {
	if r, ok := errors.AsType[*rejection](err); ok {
		return r.code
	}
	if f, ok := fault.Of(err); ok {
		switch f.Kind {
		case fault.Invalid, fault.Conflict, fault.Forbidden, fault.NotFound:
			return dns.RcodeRefused
		}
	}
	return dns.RcodeServerFailure
}

// update is a checked message.
type update struct {
	h      *Handler
	key    Key
	zone   string   // apex in lower case, without the final dot
	before []dns.RR // prerequisites
	steps  []dns.RR // changes, in the order of the message
	now    time.Time
}

// read checks everything in a message that is independent of the records of the zone (RFC 2136 sections 3.1, 3.2.5 and
// 3.4.1).
func (h *Handler) read(m *dns.Msg, key Key) (*update, error) {
	if len(m.Question) != 1 || m.Question[0].Qtype != dns.TypeSOA {
		return nil, reject(dns.RcodeFormatError, "the zone section must have one record of type SOA")
	}
	u := &update{h: h, key: key, zone: zoneOf(m), before: m.Answer, steps: m.Ns, now: h.o.Now()}
	if m.Question[0].Qclass != dns.ClassINET || !u.contains(u.zone) {
		return nil, reject(dns.RcodeNotAuth, "%s is no zone of this node", u.zone)
	}
	if count := len(u.before) + len(u.steps); count > maxRecords {
		return nil, reject(dns.RcodeRefused, "the message has %d records: at most %d are permitted", count, maxRecords)
	}
	for _, rr := range u.before {
		if err := u.checkForm(rr, true); err != nil {
			return nil, err
		}
	}
	for _, rr := range u.steps {
		if err := u.checkForm(rr, false); err != nil {
			return nil, err
		}
	}
	return u, nil
}

// checkForm checks the form of a prerequisite or of a change.
func (u *update) checkForm(rr dns.RR, prerequisite bool) error {
	hdr := rr.Header()
	if !u.contains(keyName(hdr.Name)) {
		return reject(dns.RcodeNotZone, "%s is outside the zone %s", hdr.Name, u.zone)
	}
	what := fmt.Sprintf("record %s %s %s", hdr.Name, dns.Class(hdr.Class), dns.Type(hdr.Rrtype))
	isAny, isEmpty := hdr.Rrtype == dns.TypeANY, hdr.Rdlength == 0
	switch hdr.Class {
	case dns.ClassANY:
		if hdr.Ttl != 0 || !isEmpty || isMeta(hdr.Rrtype) && !isAny {
			return reject(dns.RcodeFormatError, "%s must have TTL 0, no data and a data type or ANY", what)
		}
	case dns.ClassNONE:
		valid := !isMeta(hdr.Rrtype) && !isEmpty // the deletion of a record
		if prerequisite {
			valid = isEmpty && (isAny || !isMeta(hdr.Rrtype))
		}
		if hdr.Ttl != 0 || !valid {
			return reject(dns.RcodeFormatError, "%s has an invalid TTL, type or data for a %s", what, nameOf(prerequisite))
		}
	case dns.ClassINET:
		if prerequisite && hdr.Ttl != 0 || isEmpty || isMeta(hdr.Rrtype) {
			return reject(dns.RcodeFormatError, "%s has an invalid TTL, type or data for a %s", what, nameOf(prerequisite))
		}
	default:
		return reject(dns.RcodeFormatError, "%s has an invalid class", what)
	}
	return nil
}

func nameOf(prerequisite bool) string {
	if prerequisite {
		return "prerequisite"
	}
	return "change"
}

// isMeta reports whether zones cannot have records of a type.
func isMeta(rtype uint16) bool {
	return rtype == 0 || rtype == dns.TypeOPT || rtype >= dns.TypeTKEY && rtype <= dns.TypeANY
}

// contains reports whether a name belongs to the zone and to no served zone below it.
func (u *update) contains(name string) bool {
	apex, ok := u.h.o.ZoneOf(name)
	return ok && apex == u.zone
}

// edit returns the changes of the message for the current records of the API, or the rejection.
func (u *update) edit(now *definitions.Set) (operations.RecordEdit, error) {
	s := &state{update: u, now: now, names: map[string]map[string]*model.Record{}, put: map[string]*model.Record{},
		deleted: map[string]bool{}, known: map[ownerAndType][]dns.RR{}}
	if err := s.checkPrerequisites(); err != nil {
		return operations.RecordEdit{}, err
	}
	for _, rr := range u.steps {
		if err := s.apply(rr); err != nil {
			return operations.RecordEdit{}, err
		}
	}
	var e operations.RecordEdit
	for _, r := range s.put {
		e.Put = append(e.Put, r)
	}
	for key := range s.deleted {
		e.Delete = append(e.Delete, key)
	}
	return e, nil
}

// state is the state of the zone while the changes of a message are applied.
type state struct {
	*update
	now     *definitions.Set
	names   map[string]map[string]*model.Record // records of the API at the used names, by key
	put     map[string]*model.Record
	deleted map[string]bool           // keys
	known   map[ownerAndType][]dns.RR // results of others
}

// recordsAt returns the records of the API at a name, which the caller may change.
func (s *state) recordsAt(name string) map[string]*model.Record {
	if s.names[name] == nil {
		s.names[name] = map[string]*model.Record{}
		for _, r := range s.now.RecordsAt(name) {
			s.names[name][r.Key()] = r
		}
	}
	return s.names[name]
}

// recordsOf returns the records of the API of a name and type.
func (s *state) recordsOf(name, rtype string) (list []*model.Record) {
	for _, r := range s.recordsAt(name) {
		if r.Type == rtype {
			list = append(list, r)
		}
	}
	return list
}

// checkPrerequisites checks the prerequisites (RFC 2136 section 3.2).
func (s *state) checkPrerequisites() error {
	wanted := map[string][]string{} // data by name and type
	for _, rr := range s.before {
		hdr := rr.Header()
		name, rtype := keyName(hdr.Name), dns.Type(hdr.Rrtype).String()
		switch {
		case hdr.Class == dns.ClassINET:
			_, _, data, err := canonical(rr)
			if err != nil {
				return err
			}
			set := model.RecordSetKey(name, rtype)
			wanted[set] = append(wanted[set], data)
		case hdr.Rrtype == dns.TypeANY:
			if exists := s.exists(name); exists != (hdr.Class == dns.ClassANY) {
				if exists {
					return reject(dns.RcodeYXDomain, "%s exists", name)
				}
				return reject(dns.RcodeNameError, "%s does not exist", name)
			}
		default:
			exists := s.isBalanced(name, hdr.Rrtype) || len(s.data(name, hdr.Rrtype)) > 0
			if exists != (hdr.Class == dns.ClassANY) {
				if exists {
					return reject(dns.RcodeYXRrset, "%s has records of the type %s", name, rtype)
				}
				return reject(dns.RcodeNXRrset, "%s has no records of the type %s", name, rtype)
			}
		}
	}
	for set, data := range wanted {
		name, rtype, _ := strings.Cut(set, " ")
		if s.isBalanced(name, zonefile.ParseType(rtype)) {
			return reject(dns.RcodeRefused, "a prerequisite has values of %s %s, whose answers depend on the client", name,
				rtype)
		}
		slices.Sort(data)
		if now := s.data(name, zonefile.ParseType(rtype)); !slices.Equal(slices.Compact(data), now) {
			return reject(dns.RcodeNXRrset, "%s does not have exactly the records of the type %s in the prerequisite", name,
				rtype)
		}
	}
	return nil
}

// exists reports whether the zone has records at a name.
func (s *state) exists(name string) bool {
	if len(s.recordsAt(name)) > 0 {
		return true
	}
	return s.hasOthers(name)
}

// hasOthers reports whether the answers have records of a name that are not records of the API, other than those that
// the node creates at the apex of a zone.
func (s *state) hasOthers(name string) bool {
	fixed, balanced := s.h.o.Types(name)
	return len(balanced) > 0 || slices.ContainsFunc(fixed, func(rtype uint16) bool {
		return len(s.others(name, rtype)) > 0
	})
}

// isBalanced reports whether a decision selects the records of a name and type.
func (s *state) isBalanced(name string, rtype uint16) bool {
	_, balanced := s.h.o.Types(name)
	return slices.Contains(balanced, rtype)
}

// data returns the canonical data of the records of a name and type in order: the records of the API, otherwise the
// served records.
func (s *state) data(name string, rtype uint16) (list []string) {
	for _, r := range s.recordsOf(name, dns.Type(rtype).String()) {
		list = append(list, r.Data)
	}
	if len(list) == 0 {
		for _, rr := range s.others(name, rtype) {
			if _, _, data, err := canonical(rr); err == nil {
				list = append(list, data)
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// others returns the fixed records of a name and type in the answers that are not records of the API: records of the
// configuration file, and records that the node creates.
func (s *state) others(name string, rtype uint16) []dns.RR {
	at := ownerAndType{name, rtype}
	if known, is := s.known[at]; is {
		return known
	}
	var list []dns.RR
	if fixed, _ := s.h.o.Types(name); slices.Contains(fixed, rtype) {
		published := s.h.o.Published()
		list = slices.DeleteFunc(s.h.o.Served(name, rtype), func(rr dns.RR) bool {
			_, _, data, err := canonical(rr)
			key := model.RecordKey(name, dns.Type(rtype).String(), data)
			return err != nil || keyName(rr.Header().Name) != name || rr.Header().Rrtype != rtype ||
				s.now.Records.Get(key) != nil || published.Records.Get(key) != nil
		})
	}
	s.known[at] = list
	return list
}

// ownerAndType identifies an RRset of a zone.
type ownerAndType struct {
	name  string
	rtype uint16
}

// canonical returns the name, type and data of a record in canonical form.
func canonical(rr dns.RR) (name, rtype, data string, err error) {
	plain := dns.Copy(rr)
	plain.Header().Class = dns.ClassINET
	if plain, err = zonefile.Plain(plain); err != nil {
		return "", "", "", reject(dns.RcodeFormatError, "record %s cannot be read: %v", rr.Header().Name, err)
	}
	name, rtype, data = zonefile.Canonical(plain)
	return name, rtype, data, nil
}

// apply applies a change (RFC 2136 section 3.4.2).
func (s *state) apply(rr dns.RR) error {
	hdr := rr.Header()
	name := keyName(hdr.Name)
	if hdr.Rrtype == dns.TypeANY {
		return s.deleteName(name)
	}
	if name == s.zone && (hdr.Rrtype == dns.TypeSOA || hdr.Rrtype == dns.TypeNS) {
		return nil // the node creates these records (RFC 2136 sections 3.4.2.2 and 3.4.2.4)
	}
	switch hdr.Class {
	case dns.ClassINET:
		return s.add(rr)
	case dns.ClassANY:
		return s.deleteSet(name, hdr.Rrtype)
	default:
		return s.deleteOne(rr)
	}
}

// checkScope returns an error if the key may not change records of a name and owner.
func (s *state) checkScope(name, owner string) error {
	if s.key.Allows(name, owner) {
		return nil
	}
	if owner != "" {
		return reject(dns.RcodeRefused, "the scope of the key excludes %s of the owner %s", name, owner)
	}
	return reject(dns.RcodeRefused, "the scope of the key excludes %s", name)
}

// add adds a record, or changes its TTL. As RFC 2136 section 3.4.2.2 requires, it ignores an alias beside other records
// and other records beside an alias.
func (s *state) add(rr dns.RR) error {
	name, rtype, data, err := canonical(rr)
	if err != nil {
		return err
	}
	made, err := definitions.NewRecord(name, rtype, data, int(rr.Header().Ttl))
	if err != nil {
		return reject(dns.RcodeRefused, "%s %s: %v", name, rtype, err)
	}
	if err := s.checkScope(name, s.key.Owner); err != nil {
		return err
	}
	at := s.recordsAt(name)
	for key, r := range at {
		if err := s.checkScope(name, r.Owner); err != nil && r.Type == rtype {
			return err
		}
		switch isAlias := r.Type == "CNAME"; {
		case isAlias != (rtype == "CNAME"):
			return nil
		case isAlias && key != made.Key(): // a name has one alias
			s.remove(at, key)
		case r.Type == rtype && r.TTL != made.TTL: // one TTL for the type (RFC 2181 section 5.2)
			renewed := *r
			renewed.TTL = made.TTL
			s.store(at, &renewed)
		}
	}
	if was := at[made.Key()]; was != nil {
		made.Meta, made.ExpiresAt = was.Meta, was.ExpiresAt
	}
	if made.Owner == "" {
		made.Owner = s.key.Owner
	}
	if life := s.h.o.ChallengeExpiry(); life > 0 && strings.HasPrefix(name, "_acme-challenge.") {
		made.ExpiresAt = s.update.now.Add(life).UTC().Truncate(time.Second)
	}
	s.store(at, made)
	return nil
}

func (s *state) store(at map[string]*model.Record, r *model.Record) {
	at[r.Key()], s.put[r.Key()] = r, r
	delete(s.deleted, r.Key())
}

func (s *state) remove(at map[string]*model.Record, key string) {
	delete(at, key)
	delete(s.put, key)
	s.deleted[key] = true
}

// deleteName deletes all records of the API at a name. It rejects a name with other records, except at the apex: RFC
// 2136 section 3.4.2.3 keeps SOA and NS there.
func (s *state) deleteName(name string) error {
	if err := s.checkScope(name, s.key.Owner); err != nil {
		return err
	}
	if name != s.zone && s.hasOthers(name) {
		return reject(dns.RcodeRefused, "%s has records of the configuration file or is load-balanced: change the file or "+
			"the domain", name)
	}
	at := s.recordsAt(name)
	for key, r := range at {
		if err := s.checkScope(name, r.Owner); err != nil {
			return err
		}
		s.remove(at, key)
	}
	return nil
}

// deleteSet deletes the records of the API of a name and type. It rejects the deletion of other records.
func (s *state) deleteSet(name string, rtype uint16) error {
	if err := s.checkScope(name, s.key.Owner); err != nil {
		return err
	}
	if s.isBalanced(name, rtype) || len(s.others(name, rtype)) > 0 {
		return s.notOfTheAPI(name, rtype)
	}
	at := s.recordsAt(name)
	for key, r := range at {
		if r.Type != dns.Type(rtype).String() {
			continue
		}
		if err := s.checkScope(name, r.Owner); err != nil {
			return err
		}
		s.remove(at, key)
	}
	return nil
}

// deleteOne deletes a record of the API. It rejects the deletion of another record. A missing record is no error.
func (s *state) deleteOne(rr dns.RR) error {
	name, rtype, data, err := canonical(rr)
	if err != nil {
		return err
	}
	if err := s.checkScope(name, s.key.Owner); err != nil {
		return err
	}
	if s.isBalanced(name, rr.Header().Rrtype) {
		return s.notOfTheAPI(name, rr.Header().Rrtype)
	}
	at, key := s.recordsAt(name), model.RecordKey(name, rtype, data)
	if was := at[key]; was != nil {
		if err := s.checkScope(name, was.Owner); err != nil {
			return err
		}
		s.remove(at, key)
		return nil
	}
	for _, other := range s.others(name, rr.Header().Rrtype) {
		if _, _, has, err := canonical(other); err == nil && has == data {
			return s.notOfTheAPI(name, rr.Header().Rrtype)
		}
	}
	return nil
}

func (s *state) notOfTheAPI(name string, rtype uint16) error {
	return reject(dns.RcodeRefused, "the records of %s with the type %s are not records of the API: change the "+
		"configuration file or the domain", name, dns.Type(rtype))
}
