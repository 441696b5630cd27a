package keybackup

import "io/fs"

// giveTo does nothing: no node runs here.
func giveTo(string, fs.FileInfo) error { return nil }
