package policy

// Weighted gives each serving backend a share proportional to its weight.
var Weighted = &Algorithm{
	Name: "weighted", Title: "Weighted", Kind: "static",
	Description:  "serving backends share the answers in proportion to their weights",
	Parameters:   map[string]string{weightKey: weightText},
	WithinRegion: true,
}
