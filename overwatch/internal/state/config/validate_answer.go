package config

import "slices"

// answer checks what the answers of a domain are.
func (v *validator) answer(d *Domain, key func(string) string) {
	if !slices.Contains([]string{AnswerAddress, AnswerCNAME}, d.Answer) {
		v.oneOf(key("answer"), d.Answer, []string{AnswerAddress, AnswerCNAME})
	}
}

// named returns a domain that answers with names by each region whose servers without a service are its servers.
func (v *validator) named() map[string]string {
	regions := map[string]string{}
	for i := range v.config.Domains {
		d := &v.config.Domains[i]
		if !d.AnswersNames() {
			continue
		}
		for _, region := range d.Regions {
			regions[region] = d.Name
		}
	}
	return regions
}

// nameless notes a server that has only an address and is one of a domain that answers with names.
func (v *validator) nameless(at serverPlace, s *Server, domain int32) {
	name := ""
	switch {
	case s.Target != "" || !s.Address.IsValid():
	case s.Service == "":
		name = v.namedBy[v.config.Regions[at.region].Name]
	case domain != noDomain && v.config.Domains[domain].AnswersNames():
		name = s.Service
	}
	if name != "" {
		v.Addf(at.String()+".address", s.Address.String(), "is a server of domain %q, whose answers are names (answer: "+
			"cname): give the host name of the server as its target, or leave answer out", name)
	}
}
