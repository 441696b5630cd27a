// Package model declares the objects that operators define: each field once, with its name, default, bounds and
// meaning. The reader of configuration files, the API, documents, the store, replication, the command line and the
// reference pages all work from these declarations.
//
// Tags of a field:
//
//	key      name in the configuration file
//	json     name in the API, in documents, in the store and in replication
//	alias    other name that is accepted in JSON
//	default  value without a setting
//	min, max bounds
//	zero     "unset" if the zero value means that the field is not set; null is the only way to write it in JSON
//	usage    meaning in a few words, for the help of gslbctl
//	merge    "replace" if a merge patch replaces the object as a whole (RFC 7396 merges its members)
//
// An embedded struct with a key is a separate block in the configuration file. In JSON its fields are members of
// the enclosing object.
//
// The package is pure: no I/O, no clock, no state. It validates single objects; the node makes the checks that require
// several objects.
package model
