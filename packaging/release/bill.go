package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"os"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// bill returns the CycloneDX bill of materials of an executable: the modules in its Go build information.
func (r *release) bill(binary string, p program, t target, version string) ([]byte, error) {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return nil, err
	}
	content, err := os.ReadFile(binary)
	if err != nil {
		return nil, err
	}
	digest := sha256.Sum256(content)
	ref := "pkg:generic/" + p.name + "@" + version + "?os=" + t.os + "&arch=" + t.arch
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{
		Timestamp: r.date.UTC().Format(time.RFC3339),
		Component: &cdx.Component{
			BOMRef: ref, Type: cdx.ComponentTypeApplication, Name: p.name, Version: version, Description: p.summary,
			PackageURL: ref,
			Hashes:     &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(digest[:])}},
		},
	}
	standard := "pkg:golang/std@" + strings.TrimPrefix(info.GoVersion, "go")
	components := []cdx.Component{{
		BOMRef: standard, Type: cdx.ComponentTypeLibrary, Name: "std", Version: info.GoVersion, PackageURL: standard,
	}}
	uses := []string{standard}
	for _, m := range info.Deps {
		if m.Replace != nil && m.Replace.Sum == "" || m.Version == "(devel)" {
			continue // the program's own
		}
		if m.Replace != nil {
			m = m.Replace
		}
		purl := "pkg:golang/" + m.Path + "@" + m.Version
		components = append(components, cdx.Component{
			BOMRef: purl, Type: cdx.ComponentTypeLibrary, Name: m.Path, Version: m.Version, PackageURL: purl,
			Scope:      cdx.ScopeRequired,
			Properties: &[]cdx.Property{{Name: "go:sum", Value: m.Sum}},
		})
		uses = append(uses, purl)
	}
	bom.Components = &components
	bom.Dependencies = &[]cdx.Dependency{{Ref: ref, Dependencies: &uses}}
	var out bytes.Buffer
	encoder := cdx.NewBOMEncoder(&out, cdx.BOMFileFormatJSON)
	encoder.SetPretty(true)
	err = encoder.Encode(bom)
	return out.Bytes(), err
}
