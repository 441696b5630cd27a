package policy

// ClientHash assigns each client network to one backend. The number of networks of a backend is proportional to its
// weight (Rendezvous).
var ClientHash = &Algorithm{
	Name: "client-hash", Title: "Client hash", Kind: "hash",
	Description: "each client network uses one backend while it can serve; the number of networks is proportional " +
		"to the weights",
	Parameters: map[string]string{
		weightKey:                 weightText,
		"client_hash.ipv4_prefix": "prefix length of a client network for IPv4",
		"client_hash.ipv6_prefix": "prefix length of a client network for IPv6",
	},
	WithinRegion: true, AssignsClients: true,
}

// clientBits returns the lengths of the prefixes of a domain's client networks.
func clientBits(r *Rules) ClientBits {
	d := r.Parameters()
	return ClientBits{uint8(d.IPv4Prefix), uint8(d.IPv6Prefix)}
}
