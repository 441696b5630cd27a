// Package datadir holds the agent's data directory: it makes it, proves that it can be written to, and keeps a second agent
// out of it, whose key and sequence numbers would be the same.
// It also says which schema the files in it have, and converts those of an earlier one.
//
// The lock belongs to the process and ends with it, however it ends; a file left behind means nothing.
package datadir
