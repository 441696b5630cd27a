// Package geo places a client address in a region, and returns how many of its leading bits the result depends on. The
// root builds a Table from files and configuration; zone asks it for each query where the client counts, and explain
// for its reasons.
//
// The order is: the custom mapping with the longest matching prefix, then the database's country in a region's
// countries, then its continent in a region's continents, then the default region. All of it is compiled into a Table
// of disjoint blocks beforehand, so that Locate neither allocates nor decodes anything.
//
// A Table and a Database are immutable and may be used from any goroutine. The package reads the file that it is given
// and does no other I/O; watching the file is the caller's part.
package geo
