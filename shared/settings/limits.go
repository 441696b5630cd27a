package settings

// Bounds of the input, so that no file can exhaust the memory or time of the process.
const (
	// maxFile bounds one file, in octets: three times 100 000 domains with four servers each.
	maxFile = 128 << 20
	// maxYAML bounds a file that is not JSON: the YAML library takes some 30 octets of memory per octet of text.
	maxYAML = 64 << 20
	// largeYAML is the size in octets above which the program recommends JSON: 4 MiB of YAML take a second.
	largeYAML = 4 << 20
	// maxNodes bounds the values of a JSON file, 80 octets each. 100 000 domains with four servers each have three
	// million.
	maxNodes = 10_000_000
	// freeRepeats and octetsPerRepeat bound the values that aliases and merge keys of a text may repeat: freeRepeats, and
	// one more per octetsPerRepeat octets of text.
	freeRepeats, octetsPerRepeat = 10_000, 4
	// maxTextLists bounds the memory of the lists of a text of LoadText, in octets: an entry of three octets, such as {},
	// takes hundreds.
	maxTextLists = 64 << 20
	// maxDepth bounds nesting; the deepest key of the programs has depth seven.
	maxDepth = 64
	// maxFiles bounds the number of files of a configuration.
	maxFiles = 10_000
	// maxSecretFile bounds a file named by a <key>_file key, in octets; a map of 100 000 tokens fits.
	maxSecretFile = 16 << 20
	// maxProblems bounds the number of reported problems; further problems are only counted.
	maxProblems = 100
)
