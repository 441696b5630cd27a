// Package geo places a client address in a region and says how many of its leading bits the result depended on.
//
// The order is: the custom mapping with the longest matching prefix, then the database's country in a region's
// countries, then its continent in a region's continents, then the default region. Everything is compiled into a Table
// of disjoint blocks before it is used, so that Locate neither allocates nor decodes anything.
//
// A Table and a Database are immutable and may be used from any goroutine. The package opens the file it is told to
// read and does no other I/O; watching the file is the caller's.
package geo
