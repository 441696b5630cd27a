package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// bill returns the CycloneDX bill of materials of an executable: its libraries with their licenses.
func (r *release) bill(binary string, p program, t target, list []library) ([]byte, error) {
	content, err := os.ReadFile(binary)
	if err != nil {
		return nil, err
	}
	digest := sha256.Sum256(content)
	ref := "pkg:generic/" + p.name + "@" + r.version + "?os=" + t.os + "&arch=" + t.arch
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{
		Timestamp: r.date.UTC().Format(time.RFC3339),
		Component: &cdx.Component{
			BOMRef: ref, Type: cdx.ComponentTypeApplication, Name: p.name, Version: r.version, Description: p.summary,
			PackageURL: ref, Licenses: &cdx.Licenses{{Expression: license}},
			Hashes: &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(digest[:])}},
		},
	}
	var components []cdx.Component
	var uses []string
	for _, l := range list {
		c := cdx.Component{Type: cdx.ComponentTypeLibrary, Name: l.path, Version: l.version,
			PackageURL: "pkg:golang/" + l.path + "@" + l.version, Scope: cdx.ScopeRequired,
			Licenses: &cdx.Licenses{{Expression: strings.Join(l.licenses, " AND ")}}}
		if l.source != "" {
			c.PackageURL = "pkg:npm/" + l.path + "@" + l.version
		} else if l.path == "std" {
			c.PackageURL = "pkg:golang/std@" + strings.TrimPrefix(l.version, "go")
		}
		if l.sum != "" {
			c.Properties = &[]cdx.Property{{Name: "go:sum", Value: l.sum}}
		}
		c.BOMRef = c.PackageURL
		components, uses = append(components, c), append(uses, c.BOMRef)
	}
	bom.Components = &components
	bom.Dependencies = &[]cdx.Dependency{{Ref: ref, Dependencies: &uses}}
	var out bytes.Buffer
	encoder := cdx.NewBOMEncoder(&out, cdx.BOMFileFormatJSON)
	encoder.SetPretty(true)
	err = encoder.Encode(bom)
	return out.Bytes(), err
}
