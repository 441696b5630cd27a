package config

// regionsOfNames returns, by region, a domain with the answer cname that lists the region. Servers of such a region
// that name no service must have a target.
func (v *validator) regionsOfNames() map[string]string {
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

// missingTarget adds a problem for a server with an address instead of a target, if its domain has the answer cname.
func (v *validator) missingTarget(at serverPlace, s *Server, domain int32) {
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
