package policy

// Weighted gives every serving backend a share in proportion to its weight.
var Weighted = &Algorithm{
	Name: "weighted", Title: "Weighted", Kind: "static",
	Description:  "backends that may serve share the answers in proportion to their weights",
	Parameters:   map[string]string{weightKey: weightText},
	WithinRegion: true,
}
