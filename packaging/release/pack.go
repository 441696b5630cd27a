package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/goreleaser/nfpm/v2"
	"github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
	"github.com/goreleaser/nfpm/v2/rpm"
)

const (
	maintainer = "gslb maintainers <packages@example.com>"
	homepage   = "https://example.com/gslb"
	license    = "Apache-2.0" // LICENSE, packaging/copyright
	scriptsDir = "packaging/scripts"
	// examplesDir contains the examples. Each example is for the program of one role.
	examplesDir = "packaging/examples/"
	// copyrightFile is the copyright file of all packages.
	copyrightFile = "packaging/copyright"
)

// packages creates the deb and the rpm of a program. licenses is the file with the licenses of its libraries.
func (r *release) packages(ctx context.Context, binary, licenses string, bom []byte, p program, t target) error {
	contents, err := r.contents(ctx, binary, licenses, bom, p)
	if err != nil {
		return err
	}
	changelog, err := r.changelog(p)
	if err != nil {
		return err
	}
	for _, format := range []struct {
		name     string
		packager nfpm.Packager
	}{{"deb", &deb.Deb{}}, {"rpm", rpm.DefaultRPM}} {
		info := &nfpm.Info{
			Name: p.name, Arch: t.arch, Platform: t.os, Version: r.version, Release: "1", MTime: r.date, Section: "net",
			Priority:   "optional",
			Maintainer: maintainer, Vendor: "gslb", Description: p.summary + "\n" + p.description, DisableGlobbing: true,
			Homepage: homepage, Changelog: changelog,
		}
		if format.name == "rpm" {
			info.License, info.Description = license, p.description
			info.RPM.Summary = strings.ToUpper(p.summary[:1]) + p.summary[1:]
		}
		if info.Contents, err = r.forFormat(format.name, contents, p); err != nil {
			return err
		}
		info.RPM.BuildHost = "gslb.internal" // not this machine's, so that the bytes are the same elsewhere
		info.RPM.Group = "System Environment/Daemons"
		if p.service != nil {
			info.Depends = map[string][]string{"deb": {"passwd"}, "rpm": {"shadow-utils", "findutils"}}[format.name]
			if info.Scripts, err = r.scripts(p); err != nil {
				return err
			}
		}
		info = nfpm.WithDefaults(info)
		if err := nfpm.PrepareForPackager(info, format.name); err != nil {
			return fmt.Errorf("%s: %w", format.name, err)
		}
		var out bytes.Buffer
		if err := format.packager.Package(info, &out); err != nil {
			return fmt.Errorf("%s: %w", format.name, err)
		}
		name := filepath.Join(r.out, format.packager.ConventionalFileName(info))
		fmt.Println(" ", name)
		if err := os.WriteFile(name, out.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// contents returns the files of a package.
func (r *release) contents(ctx context.Context, binary, licenses string, bom []byte, p program) (
	files.Contents, error) {
	var list files.Contents
	add := func(from, to string, mode os.FileMode) error {
		var err error
		if p.examples != nil && strings.HasPrefix(from, examplesDir) {
			if from, err = r.renamed(from, p); err != nil {
				return err
			}
		}
		if strings.HasPrefix(to, "/usr/share/man/") {
			if from, err = r.compressed(from); err != nil {
				return err
			}
			to += ".gz"
		}
		list = append(list, &files.Content{
			Source: from, Destination: to, FileInfo: &files.ContentFileInfo{Mode: mode, MTime: r.date, Owner: "root",
				Group: "root"},
		})
		return nil
	}
	if err := add(binary, "/usr/bin/"+p.name, 0o755); err != nil {
		return nil, err
	}
	bill := filepath.Join(r.work, p.name+".cdx.json")
	if err := os.WriteFile(bill, bom, 0o644); err != nil {
		return nil, err
	}
	if err := add(bill, "/usr/share/doc/"+p.name+"/sbom.cdx.json", 0o644); err != nil {
		return nil, err
	}
	all := maps.Clone(p.files)
	all["NOTICE"] = "/usr/share/doc/" + p.name + "/NOTICE"
	all[licenses] = "/usr/share/doc/" + p.name + "/third-party.txt"
	if p.service == nil {
		if err := r.generated(ctx, all); err != nil {
			return nil, err
		}
	} else {
		list = append(list, &files.Content{
			Destination: "/etc/gslb", Type: files.TypeDir,
			FileInfo: &files.ContentFileInfo{Mode: 0o755, MTime: r.date, Owner: "root", Group: "root"},
		})
	}
	for _, from := range slices.Sorted(maps.Keys(all)) {
		to := all[from]
		if !strings.HasSuffix(from, "/") {
			if err := add(from, to, 0o644); err != nil {
				return nil, err
			}
			continue
		}
		err := filepath.WalkDir(from, func(file string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			relative, err := filepath.Rel(from, file)
			if err != nil {
				return err
			}
			return add(file, path.Join(to, filepath.ToSlash(relative)), 0o644)
		})
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}

// forFormat returns the files of a package in one format. The deb contains the upstream changelog under Debian's name,
// and overrides for lintian. The rpm marks documents as such.
func (r *release) forFormat(format string, contents files.Contents, p program) (list files.Contents, err error) {
	docs := "/usr/share/doc/" + p.name + "/"
	for _, c := range contents {
		c := *c
		switch {
		case format == "deb" && c.Destination == docs+"CHANGELOG.md":
			c.Destination = docs + "changelog.gz"
			if c.Source, err = r.compressed(c.Source); err != nil {
				return nil, err
			}
		case format == "rpm" &&
			(strings.HasPrefix(c.Destination, docs) || strings.HasPrefix(c.Destination, "/usr/share/man/")):
			c.Type = files.TypeRPMDoc
		}
		list = append(list, &c)
	}
	info := &files.ContentFileInfo{Mode: 0o644, MTime: r.date, Owner: "root", Group: "root"}
	if format == "rpm" {
		return append(list, &files.Content{Source: copyrightFile, Destination: docs + "copyright", FileInfo: info,
			Type: files.TypeRPMDoc}), nil
	}
	overrides, err := r.lintianOverrides(p)
	return append(list, &files.Content{Source: copyrightFile, Destination: docs + "copyright", FileInfo: info},
		&files.Content{Source: overrides, Destination: "/usr/share/lintian/overrides/" + p.name, FileInfo: info}), err
}

// lintianOverrides writes the overrides of a program's deb and returns their path. Only a service has maintainer
// scripts and overrides for them.
func (r *release) lintianOverrides(p program) (string, error) {
	names := []string{"lintian-program"}
	if p.service != nil {
		names = append(names, "lintian-service")
	}
	var all strings.Builder
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join("packaging/lint", name))
		if err != nil {
			return "", err
		}
		all.WriteString(strings.ReplaceAll(string(text), "@NAME@", p.name))
	}
	path := filepath.Join(r.work, p.name+".lintian-overrides")
	return path, os.WriteFile(path, []byte(all.String()), 0o644)
}

// changelog writes the changelog of a package, with one entry for the version, and returns its path. The entry has the
// version in the form of deb and rpm: 1.0.0~rc.1.
func (r *release) changelog(p program) (string, error) {
	path := filepath.Join(r.work, p.name+".changelog.yaml")
	text := fmt.Sprintf("- semver: %s-1\n  date: %s\n  packager: %s\n  deb: {urgency: medium, distributions: [stable]}\n"+
		"  changes: [{note: \"Release %[1]s; the changelog of the program lists its changes.\"}]\n",
		strings.Replace(r.version, "-", "~", 1), r.date.UTC().Format(time.RFC3339), maintainer)
	return path, os.WriteFile(path, []byte(text), 0o644)
}

// renamed returns the path of a copy of an example in which the words of p.examples are replaced for this program.
func (r *release) renamed(from string, p program) (string, error) {
	text, err := os.ReadFile(from)
	if err != nil {
		return "", err
	}
	to := filepath.Join(r.work, p.name+"-"+filepath.Base(from))
	return to, os.WriteFile(to, []byte(strings.NewReplacer(p.examples...).Replace(string(text))), 0o644)
}

// compressed returns the path of a copy of a file, compressed with gzip.
func (r *release) compressed(from string) (string, error) {
	content, err := os.ReadFile(from)
	if err != nil {
		return "", err
	}
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return "", err
	}
	if _, err := w.Write(content); err != nil {
		return "", err
	}
	if err := w.Close(); err != nil {
		return "", err
	}
	to := filepath.Join(r.work, filepath.Base(from)+".gz")
	return to, os.WriteFile(to, out.Bytes(), 0o644)
}

// scripts writes the scripts of installation and removal, with the names of the program's units, user and state.
func (r *release) scripts(p program) (nfpm.Scripts, error) {
	var others []string
	for _, other := range programs {
		if other.service != nil && other.name != p.name && other.service.state == p.service.state {
			others = append(others, other.name)
		}
	}
	names := strings.NewReplacer(
		"@NAME@", p.name, "@UNIT@", p.service.unit, "@UNITS@", strings.Join(p.service.units, " "), "@CONFIG@",
		p.service.config,
		"@STATE@", p.service.state, "@OTHERS@", strings.Join(others, " "),
		"@USER@", p.service.user,
	)
	write := func(name string) (string, error) {
		text, err := os.ReadFile(filepath.Join(scriptsDir, name))
		if err != nil {
			return "", err
		}
		to := filepath.Join(r.work, p.name+"-"+name)
		return to, os.WriteFile(to, []byte(names.Replace(string(text))), 0o755)
	}
	var s nfpm.Scripts
	for name, path := range map[string]*string{
		"preinstall.sh": &s.PreInstall, "postinstall.sh": &s.PostInstall, "preremove.sh": &s.PreRemove,
		"postremove.sh": &s.PostRemove,
	} {
		var err error
		if *path, err = write(name); err != nil {
			return s, err
		}
	}
	return s, nil
}
