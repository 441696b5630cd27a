// Package console contains the files of the web console. The console is a page that shows a node and changes it through
// its HTTP API. httpapi serves the files. The files are part of the program; vendor.sh lists the sources of files from
// other projects. The package has no mutable state and is safe for concurrent use.
package console

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"errors"
	"io/fs"
	"path"
	"strings"
	"sync"
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
	Packed  []byte // Content in gzip format
}

// types has the media types by file extension. Files with other extensions are not served.
var types = map[string]string{
	".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
	".json": "application/json", ".svg": "image/svg+xml", ".txt": "text/plain; charset=utf-8",
}

// Files returns all files of the console. The caller must not change them.
func Files() []File { return files() }

// files compresses the files once per process, because it takes a tenth of a second.
var files = sync.OnceValue(func() []File {
	var list []File
	err := fs.WalkDir(assets, "assets", func(name string, entry fs.DirEntry, err error) error {
		kind, served := types[path.Ext(name)]
		if err != nil || entry.IsDir() || !served {
			return err
		}
		list = append(list, fileOf(name, kind))
		return nil
	})
	if err != nil {
		panic(err) // the files are part of this program
	}
	return list
})

// packed compresses a file.
func packed(content []byte) []byte {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err == nil {
		_, err = w.Write(content)
	}
	if err = errors.Join(err, w.Close()); err != nil {
		panic(err) // a buffer accepts all writes
	}
	return out.Bytes()
}

// Page returns the page, with the path "/". It is compressed once.
var Page = sync.OnceValue(func() File { return fileOf("assets/index.html", types[".html"]) })

// fileOf returns a file by its name in assets.
func fileOf(name, kind string) File {
	content, err := assets.ReadFile(name)
	if err != nil {
		panic(err) // the files are part of this program
	}
	sum := sha256.Sum256(content)
	at := "/console" + strings.TrimPrefix(name, "assets")
	if at == "/console/index.html" {
		at = "/"
	}
	return File{at, kind, `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`, content, packed(content)}
}
