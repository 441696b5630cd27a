// Package console contains the files of the web console. The console is a page that shows a node and changes it through
// its HTTP API. httpapi serves the files. The files are part of the program; vendor.sh lists the sources of files from
// other projects. The package has no mutable state and is safe for concurrent use.
package console

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"io/fs"
	"path"
	"slices"
	"strings"
)

//go:embed assets
var assets embed.FS

// Policy is the Content-Security-Policy of each file: no external sources, no inline code, no frames.
const Policy = "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// File is a file of the console.
type File struct {
	Path    string // path: "/" for the page, and below "/console/" for its files
	Type    string // media type
	Tag     string // ETag, which changes with the content
	Content []byte
}

// types has the media types by file extension. Files with other extensions are not served.
var types = map[string]string{
	".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
	".json": "application/json", ".svg": "image/svg+xml", ".txt": "text/plain; charset=utf-8",
}

// Files returns all files of the console.
func Files() []File {
	var list []File
	err := fs.WalkDir(assets, "assets", func(name string, entry fs.DirEntry, err error) error {
		kind, served := types[path.Ext(name)]
		if err != nil || entry.IsDir() || !served {
			return err
		}
		content, err := assets.ReadFile(name)
		sum := sha256.Sum256(content)
		at := "/console" + strings.TrimPrefix(name, "assets")
		if at == "/console/index.html" {
			at = "/"
		}
		list = append(list, File{at, kind, `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`, content})
		return err
	})
	if err != nil {
		panic(err) // the files are part of this program
	}
	return list
}

// Page returns the page, with the path "/".
func Page() File {
	files := Files()
	return files[slices.IndexFunc(files, func(f File) bool { return f.Path == "/" })]
}
