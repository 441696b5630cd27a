// Package settings owns the reading of configuration files, YAML and JSON, into a struct. It reports all faults at
// once: file, line, key, value and remedy. The config packages of overwatch and agent call Load; the launcher calls
// Mode. The package also owns the syntax of values that both roles have: domain names, listeners, labels and keys.
//
// The struct names its keys with the tag `key:"name"` and holds the defaults before Load. A value comes from one source
// only: from a file, or, for a Secret, from a file named by <key>_file or from the environment. A key that is given
// twice is an error, so nobody has to know which of two files wins.
//
// Included files are joined with the including one: maps key by key, lists by appending.
//
// Load reads files and the environment, and never starts anything. Its results belong to the caller.
package settings
