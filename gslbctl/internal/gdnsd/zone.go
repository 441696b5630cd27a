package gdnsd

import (
	"encoding/hex"
	"fmt"
	"io/fs"
	"regexp"
	"strconv"
	"strings"

	"github.com/miekg/dns"

	"gslb.internal/gslbctl/internal/imports"
)

// dynamic is the record type for private use (RFC 6895) that replaces DYNA and DYNC in the parsed text.
const dynamic = 65280

// steered is a DYNA or DYNC record.
type steered struct {
	name, ref string // ref names a resource, such as metafo!www
	most      uint32 // greatest TTL in seconds
	least     uint32 // the least TTL
}

// zone returns the ordinary records of a zone file, and the records of plugins.
func (r *reader) zone(file, zone string) (records []dns.RR, names []steered, err error) {
	ttl := uint64(86400)
	if text := r.root.sub("options").text("zones_default_ttl"); text != "" {
		if ttl, err = integer(text, 31); err != nil {
			return nil, nil, fmt.Errorf("zones_default_ttl: %w", err)
		}
	}
	files := zoneFiles{source: r.source, zone: zone}
	text, err := files.text(file, zone)
	if err != nil {
		return nil, nil, err
	}
	note := ""
	if !directive.MatchString(text) {
		text, note = fmt.Sprintf("$TTL %d\n", ttl)+text, " (less one: it has no $TTL)"
	}
	parser := dns.NewZoneParser(strings.NewReader(text), zone, file)
	parser.SetIncludeAllowed(true)
	parser.SetIncludeFS(files)
	for rr, ok := parser.Next(); ok; rr, ok = parser.Next() {
		unknown, special := rr.(*dns.RFC3597)
		if !special || unknown.Hdr.Rrtype != dynamic {
			records = append(records, rr)
			continue
		}
		payload, err := hex.DecodeString(unknown.Rdata)
		least, ref, found := strings.Cut(string(payload), " ")
		if err != nil || !found {
			return nil, nil, fmt.Errorf("%s: %s: TYPE%d is for other use here", file, unknown.Hdr.Name, dynamic)
		}
		s := steered{name: dns.CanonicalName(unknown.Hdr.Name), ref: ref, most: unknown.Hdr.Ttl,
			least: unknown.Hdr.Ttl / 2}
		if least != "-" {
			if s.least, err = seconds(least); err != nil {
				return nil, nil, fmt.Errorf("%s: %s: %w", file, s.name, err)
			}
		}
		names = append(names, s)
	}
	if err := parser.Err(); err != nil {
		return nil, nil, fmt.Errorf("%w%s", err, note)
	}
	return records, names, nil
}

// zoneFiles opens zone files in a syntax that the DNS library parses. It implements fs.FS, for $INCLUDE.
type zoneFiles struct {
	*source
	zone string
}

// text returns a zone file in which standard syntax replaces the syntax of gdnsd. origin is the first origin of the
// file, or "" if it is unknown.
func (z zoneFiles) text(name, origin string) (string, error) {
	text, err := z.source.text(name)
	if err != nil {
		return "", err
	}
	if text, err = z.spelledOut(text, origin); err != nil {
		return "", fmt.Errorf("%s:%w", name, err)
	}
	text = imports.ShortSerial(text)
	lines := strings.SplitAfter(text, "\n")
	for i, line := range lines {
		lines[i] = rewritten(line)
	}
	return strings.Join(lines, ""), nil
}

// spelledOut returns text in which values replace @Z (the zone) and @F (the first origin of the file). An error begins
// with a line number.
func (z zoneFiles) spelledOut(text, origin string) (string, error) {
	var b strings.Builder
	end := 0
	for _, at := range words.FindAllStringIndex(text, -1) {
		m := short.FindStringSubmatch(text[at[0]:at[1]])
		if m == nil {
			continue
		}
		name := z.zone
		if strings.EqualFold(m[2], "F") {
			if name = origin; name == "" {
				return "", fmt.Errorf("%d: @F is not known in a file that another includes: write its value",
					1+strings.Count(text[:at[0]], "\n"))
			}
		}
		b.WriteString(text[end:at[0]] + m[1] + name)
		end = at[1]
	}
	return b.String() + text[end:], nil
}

var (
	// words matches quoted strings, comments and words. Only words can be names.
	words = regexp.MustCompile(`(?s)"(?:[^"\\]|\\.)*"|;[^\n]*|(?:[^\s;()"\\]|\\.)+`)
	// @Z and @F, as a whole name or at the end of a name (gdnsd.zonefile(5))
	short     = regexp.MustCompile(`(?is)^([^;"].*\.)?@([ZF])$`)
	directive = regexp.MustCompile(`(?im)^\$TTL\s`)
	// owner or none, TTL and class or none, then the type and the reference
	plugin = regexp.MustCompile(
		`(?i)^([^\s;"]\S*\s+|\s+)(?:(\d\w*)(?:/(\d\w*))?\s+)?(?:IN\s+)?DYN[AC]\s+([^\s;]+)(.*)$`)
	periods = map[byte]uint64{'s': 1, 'm': 60, 'h': 3600, 'd': 86400, 'w': 604800}
)

// rewritten returns a line with DYNA and DYNC as records of type dynamic.
func rewritten(line string) string {
	m := plugin.FindStringSubmatch(strings.TrimRight(line, "\r\n"))
	if m == nil {
		return line
	}
	least := m[3]
	if least == "" {
		least = "-"
	}
	payload := hex.EncodeToString([]byte(least + " " + m[4]))
	return fmt.Sprintf("%s %s TYPE%d \\# %d %s%s\n", m[1], m[2], dynamic, len(payload)/2, payload, m[5])
}

// seconds reads a TTL, such as 90, 5M or 1h30m.
func seconds(text string) (uint32, error) {
	total, digits := uint64(0), ""
	for i := range len(text) {
		c := text[i] | 0x20
		if text[i] >= '0' && text[i] <= '9' && len(digits) < 10 {
			digits += text[i : i+1]
			continue
		}
		n, err := strconv.ParseUint(digits, 10, 31)
		if err != nil || periods[c] == 0 {
			return 0, fmt.Errorf("%q is no TTL", text)
		}
		total, digits = total+n*periods[c], ""
	}
	if digits != "" {
		n, _ := strconv.ParseUint(digits, 10, 64)
		total += n
	}
	if total > 1<<31-1 {
		return 0, fmt.Errorf("%q is more than a TTL may be", text)
	}
	return uint32(total), nil
}

// Open implements fs.FS.
func (z zoneFiles) Open(name string) (fs.File, error) {
	text, err := z.text(name, "")
	return imports.TextFile{Reader: strings.NewReader(text)}, err
}
