// Package geo maps client addresses to regions and client locations, and returns the number of address bits that
// determined the result. The root builds a Table from files and configuration. Package zone looks up the client of each
// query that depends on the client, and package explain requests the reasons.
//
// The order of precedence is: the custom mapping with the longest matching prefix, the country of the database record,
// its continent, and the default region. New compiles all of them to disjoint blocks of addresses, so that Locate
// neither allocates nor decodes records.
//
// A Table and a Database are immutable and safe for concurrent use. ReadDatabase reads its file; the package must not
// do other I/O, and the caller watches the file for changes.
package geo
