package policy

// RoundRobin gives every serving backend the same share.
var RoundRobin = &Algorithm{
	Name: DefaultAlgorithm, Title: "Round robin", Kind: "static",
	Description:  "every backend that may serve has an equal share of the answers",
	WithinRegion: true, IgnoresWeights: true,
}
