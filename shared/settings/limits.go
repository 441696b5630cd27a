package settings

// Bounds of what is read, so that no file, however it is made, takes the process down.
const (
	// maxFile bounds one YAML file, in octets: three times 100 000 domains with four servers each.
	maxFile = 128 << 20
	// maxComposed bounds a file that needs the full YAML library, which takes some 25 octets of memory per octet of text.
	maxComposed = 16 << 20
	// maxNodes bounds the nodes of one file, 12 octets each. 100 000 domains with four servers each have five million.
	maxNodes = 20_000_000
	// maxComposedNodes bounds them where aliases are expanded, and how many pairs are looked at to merge mappings.
	maxComposedNodes = 4_000_000
	// maxDepth bounds nesting; the deepest key of ours is seven deep.
	maxDepth = 64
	// maxFiles bounds how many files one configuration has.
	maxFiles = 10_000
	// maxSecretFile bounds a file named by a <key>_file key, in octets; a map of 100 000 tokens fits.
	maxSecretFile = 16 << 20
	// maxProblems bounds how many problems are told one by one; the rest is counted.
	maxProblems = 100
)
