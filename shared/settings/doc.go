// Package settings reads the YAML and JSON files of a program into a struct and tells everything that is wrong with
// them at once: file, line, key, value, and what would be right.
//
// The struct names its keys with the tag `key:"name"`. What Load finds in it beforehand are the defaults. A value
// comes from one place only: from a file, or, for a Secret, from a file named by <key>_file or from the
// environment. A key that is given twice is an error, so nobody has to know which of two files wins.
//
// Included files are joined with the including one: maps key by key, lists by appending.
//
// Load reads files and the environment, and starts nothing. Its results belong to the caller.
package settings
