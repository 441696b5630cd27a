package policy

// ClientHash keeps each client network to one backend. Backends have networks in proportion to their weights
// (Rendezvous).
var ClientHash = &Algorithm{
	Name: "client-hash", Title: "Client hash", Kind: "hash",
	Description: "each client network keeps to one backend while that may serve; backends have networks in proportion " +
		"to their weights",
	Parameters: map[string]string{
		weightKey:                 weightText,
		"client_hash.ipv4_prefix": "leading bits of an IPv4 address that make a client's network",
		"client_hash.ipv6_prefix": "leading bits of an IPv6 address that make a client's network",
	},
	WithinRegion: true, KeepsClients: true,
}

// clientBits returns the lengths of the prefixes of a domain's client networks.
func clientBits(r *Rules) ClientBits {
	d := r.Parameters()
	return ClientBits{uint8(d.IPv4Prefix), uint8(d.IPv6Prefix)}
}
