// Package settings reads configuration files, YAML and JSON, into a struct. It reports all faults together: file, line,
// key, value and remedy. The config packages of overwatch and agent call Load; the launcher calls Mode. The package
// also has the syntax of values that both roles use: domain names, listeners, labels and keys.
//
// The struct names its keys with the tag `key:"name"` and has the defaults before Load. A value has a single source:
// a file, or, for a Secret, also a file named by <key>_file or the environment. A duplicate key is an error, so
// operators need not know an order of precedence.
//
// Load joins included files with the including file: maps key by key, lists by appending.
//
// Load reads files and the environment, and starts nothing. Its results belong to the caller.
package settings
