package policy

// RoundRobin gives each serving backend an equal share.
var RoundRobin = &Algorithm{
	Name: DefaultAlgorithm, Title: "Round robin", Kind: "static",
	Description:  "all serving backends have equal shares of the answers",
	WithinRegion: true, IgnoresWeights: true,
}
